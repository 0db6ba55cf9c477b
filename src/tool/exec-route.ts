// Where and how a command of a call runs, from the session and the sender of the call.
import { elevationOf } from "../exec/elevated.ts";
import type { ExecArgs, ExecCall } from "../exec/exec-request.ts";
import { routeExec, type Route } from "../exec/route.ts";
import { unauthorisedSource } from "../session/provenance.ts";
import { senderOf } from "../session/sender.ts";
import { entryOf } from "../session/session.ts";
import type { Store } from "../store/store.ts";

export async function routeOfCall(store: Store, args: ExecArgs, call: ExecCall): Promise<Route> {
  const { config, agent, session: sessionKey, sandboxed, subagent, senderIds, hints } = call;
  const record = await store.sessions.get(sessionKey);
  // A node, a webhook or another session does not have the rights of the session's own sender (POL-019).
  const source = sandboxed && call.turn !== undefined ? await unauthorisedSource(store, call.turn) : undefined;
  const { channel, senders } = source === undefined ? senderOf(sessionKey, record) : { channel: source, senders: [] };
  const elevation = elevationOf({
    config,
    agent,
    channel,
    senders: source === undefined ? [...senders, ...senderIds] : [],
    subagent,
    execAllowed: true,
  });
  return routeExec({
    params: args,
    session: record === undefined ? {} : entryOf(record),
    once: { ...hints.exec, ...(hints.elevated === undefined ? {} : { elevated: hints.elevated }) },
    config,
    agent,
    sandboxed,
    elevation,
    sessionKey,
  });
}
