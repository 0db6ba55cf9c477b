// health, status, presence, logs.
import { HouseError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/system.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import type { Vitals } from "../health.ts";
import { tailLog } from "../log-tail.ts";
import { createLoopDelay } from "../loop-delay.ts";
import { createSandboxTrial } from "../sandbox-state.ts";

export function systemMethods(context: GatewayContext, vitals: Vitals): Served[] {
  const { presence, hub, log, events, config } = context;
  const loop = createLoopDelay();
  const trySandbox = createSandboxTrial(context);
  return [
    serve(methods.health, async ({ probe }) => {
      const health = await vitals.health();
      if (probe !== true) return health;
      const sandbox = await trySandbox();
      return { ...health, sandbox, loopDelayP99Ms: loop.ask(), droppedLogLines: log.dropped() };
    }),
    serve(methods.status, () => vitals.status()),
    serve(methods.systemPresence, () => presence.list()),
    serve(methods.systemEvent, (params, client) => {
      const text = params["text"];
      if (typeof text !== "string" || text.trim() === "") throw new HouseError("wire.invalid-request", "text required");
      const key =
        [params["instanceId"], params["deviceId"]].find((value) => typeof value === "string") ?? client.connId;
      presence.beacon(key.slice(0, 200), { text: text.slice(0, 500), ...pickWords(params) });
      hub.broadcast(
        "presence",
        { presence: presence.list() },
        { stateVersion: { presence: presence.version(), health: 1 } },
      );
      return { ok: true };
    }),
    serve(methods.systemEventsList, async ({ sessionKey = "main" }) => {
      const { session } = subjectOf({ sessionKey }, config());
      return { sessionKey: session, events: await events.peek(session) };
    }),
    serve(methods.logsTail, (params) => tailLog(log.file(), params)),
    serve(methods.gatewayRestart, ({ delayMs = 0, reason = "asked for" }) => {
      context.restart(reason, delayMs);
      return { ok: true, pid: process.pid, delayMs };
    }),
  ];
}

function pickWords(params: Record<string, unknown>): Record<string, string> {
  const names = ["host", "ip", "mode", "version", "platform", "reason"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = params[name];
      return typeof value === "string" ? [[name, value.slice(0, 200)]] : [];
    }),
  );
}
