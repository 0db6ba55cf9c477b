// `openclaw gateway status`: shows whether a gateway runs here, whether it answers, and its last error.
import { startFailures } from "../../lifecycle/start-failures.ts";
import { systemClock } from "../../base/clock.ts";
import { defineCommand } from "../command.ts";
import { lastLoggedError, readGatewayState, type GatewayState, type Probe } from "../gateway-state.ts";
import type { Io } from "../io.ts";
import { formatLogLine, newestLog } from "../log-file.ts";
import { formatDuration } from "../../base/duration.ts";
import { columns, oneLine, shortPath, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  options: {
    "no-probe": { type: "boolean", description: "Check only the process and the port; send no request." },
    ...wireOptions,
  },
  examples: [
    { line: "gateway status", does: "process, port, answer, config, last error" },
    { line: "gateway status --json", does: "the same as JSON" },
    { line: "gateway status && echo up", does: "in scripts" },
  ],
  exits: "0 a gateway runs and answers, 1 it does not, 2 wrong usage",
  async run(io, { options }) {
    const probing = options["no-probe"] !== true;
    const state = await readGatewayState(io, options, probing ? { health: {} } : {});
    const lastError = await lastLoggedError(io, state.unchecked);
    const up = probing ? state.probe.ok : state.listening;
    if (io.json) io.print(toJson({ ok: up, ...factsOf(io, state), lastError: lastError ?? null }));
    else {
      const rows = rowsOf(io, state);
      const last = lastError === undefined ? [] : [["Last error", formatLogLine(lastError, io.paint)] as const];
      io.print(columns([...rows, ...last], { width: io.width }).join("\n"));
      if (!up) io.say(`fix: ${fixFor(state)}`);
    }
    return up ? 0 : 1;
  },
});

function factsOf(io: Io, { owner, target, listening, probe, unchecked }: GatewayState): Record<string, unknown> {
  return {
    url: target.url,
    from: target.from,
    process: owner ?? null,
    listening,
    probe: probe.ok
      ? { ok: true, ms: probe.ms, version: probe.hello.server.version, uptimeMs: probe.hello.snapshot.uptimeMs }
      : { ok: false, error: errorOf(probe) },
    configPath: unchecked.file,
    configExists: unchecked.exists,
    stateDir: io.paths().state,
    log: newestLog(io, unchecked) ?? null,
  };
}

function errorOf(probe: Probe & { ok: false }): unknown {
  if (probe.error === undefined) return null;
  const { code, message, hint } = probe.error;
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

function rowsOf(io: Io, { owner, target, listening, probe, unchecked }: GatewayState): (readonly [string, string])[] {
  const { paint } = io;
  const log = newestLog(io, unchecked);
  return [
    ["Process", processText(io, owner, target.isLocal)],
    ["Address", `${target.url} ${listening ? "(in use)" : paint.dim("(free)")}`],
    ["Answer", answerText(io, probe)],
    ["Config", `${shortPath(unchecked.file, io)}${unchecked.exists ? "" : " (does not exist yet)"}`],
    ["State", shortPath(io.paths().state, io)],
    ["Log", log === undefined ? "no log file yet" : shortPath(log, io)],
    ...startRow(io, owner, target.isLocal),
  ];
}

/** Why the last start failed; the gateway may be in repair mode. */
function startRow(io: Io, owner: GatewayState["owner"], isLocal: boolean): (readonly [string, string])[] {
  if (!isLocal || owner !== undefined) return [];
  const { times, reason } = startFailures(io.paths().state);
  return times.length === 0
    ? []
    : [
        [
          "Start",
          io.paint.warn(`failed ${times.length === 1 ? "once" : `${times.length} times`} recently: ${oneLine(reason)}`),
        ],
      ];
}

function processText({ paint }: Io, owner: GatewayState["owner"], isLocal: boolean): string {
  if (!isLocal) return "on another machine";
  if (owner === undefined) return paint.warn("no gateway uses this state folder");
  return `${owner.pid}, since ${formatDuration(systemClock.now() - owner.startedAt)}${owner.port === undefined ? " (not a gateway: another openclaw command locks the state)" : ""}`;
}

function answerText({ paint }: Io, probe: Probe): string {
  if (probe.ok)
    return `${paint.good("ok")}, version ${oneLine(probe.hello.server.version)}, up ${formatDuration(probe.hello.snapshot.uptimeMs)}, took ${probe.ms} ms`;
  return probe.error === undefined ? paint.warn("none") : paint.bad(oneLine(probe.error.message));
}

function fixFor({ probe, target }: GatewayState): string {
  if (!probe.ok && probe.error?.hint !== undefined) return probe.error.hint;
  return target.isLocal ? "openclaw gateway run" : "start the gateway on its machine, or check gateway.remote.url";
}
