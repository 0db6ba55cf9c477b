// health, status, presence, logs.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/system.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import type { HealthReporter } from "../health.ts";
import type { Heartbeats } from "../../agent/heartbeat/heartbeats.ts";
import { tailLog } from "../log-tail.ts";
import type { Beacon } from "../presence.ts";
import { createLoopDelay } from "../loop-delay.ts";
import { createSandboxTrial } from "../sandbox-state.ts";

export function systemMethods(
  context: GatewayContext,
  vitals: HealthReporter,
  heartbeats: Pick<Heartbeats, "wakeMain">,
): Served[] {
  const { presence, presenceEvents, log, events, config } = context;
  const loop = createLoopDelay();
  const trySandbox = createSandboxTrial(context);
  return [
    serve(methods.health)(async ({ probe }, client) => {
      const health = await vitals.health(client);
      if (probe !== true) return health;
      const sandbox = await trySandbox();
      return { ...health, sandbox, loopDelayP99Ms: loop.p99SinceLastCall(), droppedLogLines: log.dropped() };
    }),
    serve(methods.status)(() => vitals.status()),
    serve(methods.systemPresence)(() => presence.list()),
    serve(methods.systemEvent)(async (params, client) => {
      const text = wordOf(params["text"], 4000);
      if (text === undefined) throw new OpenClawError("wire.invalid-request", "text required");
      const about = beaconOf(params);
      // Without facts about the sender the text is a note for the main session; with them it is a presence beacon.
      if (Object.keys(about).length === 0) await heartbeats.wakeMain(text.trim(), "next-heartbeat");
      else {
        presence.beacon({ ...about, text: text.slice(0, 500) }, client.connId);
        presenceEvents.changed();
      }
      return { ok: true };
    }),
    serve(methods.systemEventsList)(async ({ sessionKey = "main" }) => {
      const { session } = subjectOf({ sessionKey }, config());
      return { sessionKey: session, events: await events.peek(session) };
    }),
    serve(methods.logsTail)((params) => tailLog(log.file(), params)),
    serve(methods.gatewayRestart)(({ delayMs = 0, reason = "requested" }) => {
      context.restart(reason, delayMs);
      return { ok: true, pid: process.pid, delayMs };
    }),
  ];
}

/** The facts of a presence beacon; fields of the wrong type are left out. */
function beaconOf(params: Record<string, unknown>): Omit<Beacon, "text"> {
  const texts = ["host", "ip", "mode", "version", "platform", "deviceFamily", "modelIdentifier", "reason"];
  const lists = ["roles", "scopes", "tags"];
  const idle = params["lastInputSeconds"];
  return {
    ...Object.fromEntries(
      [...texts, "instanceId", "deviceId"].flatMap((name) => {
        const word = wordOf(params[name], 200);
        return word === undefined ? [] : [[name, word]];
      }),
    ),
    ...Object.fromEntries(
      lists.flatMap((name) => {
        const list = params[name];
        if (!Array.isArray(list)) return [];
        return [[name, list.flatMap((item) => wordOf(item, 100) ?? []).slice(0, 20)]];
      }),
    ),
    ...(typeof idle === "number" && Number.isFinite(idle) && idle >= 0 ? { lastInputSeconds: idle } : {}),
  };
}

function wordOf(value: unknown, maxChars: number): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.slice(0, maxChars).toWellFormed() : undefined;
}
