// Whether a gateway runs and answers, or another process has its port.
import { formatDuration } from "../../base/duration.ts";
import { OpenClawError } from "../../core/error.ts";
import { startFailures } from "../../lifecycle/start-failures.ts";
import { ok, type Check, type Finding, type GatewayProbe } from "./check.ts";

export const gateway: Check = {
  name: "Gateway",
  needsConfig: false,
  async run({ paths, probeGateway }) {
    const { times, reason } = startFailures(paths.state);
    const failures = times.length === 0 ? undefined : failureText(times.length, reason);
    try {
      return findingsOf(await probeGateway(), failures);
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      return [{ level: "fail", message: failures ?? error.message, ...hintOf(error) }];
    }
  },
};

function findingsOf({ url, ownerPid, isListening, answer }: GatewayProbe, failures: string | undefined): Finding[] {
  if (answer.ok)
    return [ok(`answers at ${url}, up ${formatDuration(answer.uptimeMs)}`), ...troubleFinding(answer.trouble)];
  if (ownerPid === undefined && failures !== undefined) {
    return [
      {
        level: "fail",
        message: failures,
        hint: "fix the cause; a gateway in repair mode then starts by itself, otherwise run: openclaw gateway run",
      },
    ];
  }
  const { error } = answer;
  if (error?.code === "gateway.unauthorized" || error?.code === "gateway.not-paired")
    return [{ level: "warn", message: error.message, ...hintOf(error) }];
  if (isListening && ownerPid === undefined) {
    return [
      {
        level: "warn",
        message: `the port of ${url} is in use by a process that is not the gateway of this state folder`,
        hint: "openclaw config set gateway.port <another>",
      },
    ];
  }
  if (ownerPid !== undefined)
    return [
      {
        level: "fail",
        message: `process ${ownerPid} holds the state folder but does not answer`,
        hint: "openclaw gateway stop, then: openclaw gateway run",
      },
    ];
  return [{ level: "note", message: `not running (${url})`, hint: "openclaw gateway run" }];
}

const failureText = (count: number, reason: string): string =>
  `failed to start ${count === 1 ? "once" : `${count} times`} recently: ${reason}`;

const hintOf = ({ hint }: OpenClawError): { hint?: string } => (hint === undefined ? {} : { hint });

/** The running config differs from the one on disk. */
function troubleFinding(trouble: string | undefined): Finding[] {
  if (trouble === undefined) return [];
  return [
    {
      level: "fail",
      message: `runs with the last good config, not with the one on disk: ${trouble}`,
      hint: "fix the config; it is applied when it is saved",
    },
  ];
}
