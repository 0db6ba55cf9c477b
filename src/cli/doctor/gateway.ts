// Does a gateway run and answer; is its port taken by somebody else.
import { readGatewayState, type Probe } from "../gateway-state.ts";
import { oneLine, span } from "../print.ts";
import { OpenClawError } from "../../core/error.ts";
import { startFailures } from "../../lifecycle/start-failures.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const gateway: Check = {
  name: "Gateway",
  needsConfig: false,
  async look({ io }) {
    const { times, reason } = startFailures(io.paths().state);
    const state = await readGatewayState(io, {}, { health: {} }).catch((error: unknown) => {
      if (error instanceof OpenClawError) return error;
      throw error;
    });
    if (state instanceof OpenClawError) {
      const said = times.length === 0 ? state.message : failureText(times.length, reason);
      return [{ level: "fail", message: said, ...(state.hint === undefined ? {} : { hint: state.hint }) }];
    }
    const { probe, owner, listening, target } = state;
    if (probe.ok)
      return [ok(`answers at ${target.url}, up ${span(probe.hello.snapshot.uptimeMs)}`), ...troubleOf(probe)];
    if (owner === undefined && times.length > 0) {
      return [
        {
          level: "fail",
          message: failureText(times.length, reason),
          hint: "mend that; a gateway in repair mode then starts by itself, else: openclaw gateway run",
        },
      ];
    }
    if (probe.error?.code === "gateway.unauthorized" || probe.error?.code === "gateway.not-paired") {
      return [
        {
          level: "warn",
          message: oneLine(probe.error.message),
          ...(probe.error.hint === undefined ? {} : { hint: probe.error.hint }),
        },
      ];
    }
    if (listening && owner === undefined) {
      return [
        {
          level: "warn",
          message: `the port of ${target.url} is taken by something that is no gateway of this state folder`,
          hint: "openclaw config set gateway.port <another>",
        },
      ];
    }
    if (owner !== undefined)
      return [
        {
          level: "fail",
          message: `process ${owner.pid} holds the state folder but does not answer`,
          hint: "openclaw gateway stop, then: openclaw gateway run",
        },
      ];
    return [{ level: "note", message: `none is running (${target.url})`, hint: "openclaw gateway run" }];
  },
};

const failureText = (count: number, reason: string): string =>
  `it could not start (${count} times of late): ${oneLine(reason)}`;

/** What is on disk is not what runs. */
function troubleOf({ answers }: Extract<Probe, { ok: true }>): Finding[] {
  const { trouble } = (answers["health"] ?? {}) as { trouble?: unknown };
  if (typeof trouble !== "string") return [];
  return [
    {
      level: "fail",
      message: `runs with the last good config, not with the one on disk: ${oneLine(trouble)}`,
      hint: "mend the config; it is taken over when it is saved",
    },
  ];
}
