// Sessions that work together over an open house: sub-agents and talks. The engines load with the first of them.
import type { Trust } from "../core/turn-source.ts";
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Outbound } from "../channel/outbound.ts";
import type { ModelBook } from "../model/model.ts";
import type { Subagents } from "../session/subagents.ts";
import { EXCHANGES, type SessionMessages } from "../session/session-messages.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenSessions {
  readonly children: Subagents;
  readonly sessionMessages: SessionMessages;
  /** Takes up what an earlier process left. */
  recover(): Promise<void>;
  /** From here on nothing is followed any more; what is open goes on with the next start. */
  close(): void;
}

interface Engines {
  readonly children: Subagents;
  readonly sessionMessages: SessionMessages;
}

export function openSessions(runtime: Runtime, models: ModelBook, outbound: Outbound): OpenSessions {
  const { store, log, mask } = runtime;
  const shared = {
    store,
    turns: runtime.services.turns,
    outbound,
    config: () => runtime.settings.now().config,
    clock: systemClock,
  };
  let isClosed = false;
  const open = async (): Promise<Engines> => {
    const [{ createSubagents }, { createSessionMessages }, provenance] = await Promise.all([
      import("../agent/subagent/subagents.ts"),
      import("../agent/session-messages/session-messages.ts"),
      import("../session/provenance.ts"),
    ]);
    const trustOf = (turn: string): Promise<Trust> => provenance.trustOf(store, turn);
    const opened = {
      children: createSubagents({ ...shared, models, mask, trustOf, log: log.child("children") }),
      sessionMessages: createSessionMessages({ ...shared, log: log.child("talks") }),
    };
    // A run that is being ended may still ask for the first of them: kept, and followed by the next start.
    if (isClosed) closeAll(opened);
    return opened;
  };
  const closeAll = (opened: Engines): void => {
    opened.children.close();
    opened.sessionMessages.close();
  };
  const opening = lazy(open);
  const engines = opening.get;
  const close = (): void => {
    isClosed = true;
    void opening.opened().then((opened) => (opened === undefined ? undefined : closeAll(opened)));
  };
  const recover = async (): Promise<void> => {
    const [left, due, talking] = await Promise.all([
      store.children.open(),
      store.children.nextDue(),
      store.kv.list(EXCHANGES),
    ]);
    if (isClosed || (left.length === 0 && due === undefined && talking.length === 0)) return;
    const { children, sessionMessages } = await engines();
    await Promise.all([children.recover(), sessionMessages.recover()]);
  };
  const children: Subagents = {
    spawn: async (wish) => (await engines()).children.spawn(wish),
    list: async (requester) => (await engines()).children.list(requester),
    stop: async (requester, runIds, telling) => (await engines()).children.stop(requester, runIds, telling),
    ask: async (child, text, timeoutMs, signal) => (await engines()).children.ask(child, text, timeoutMs, signal),
    recover,
    close,
  };
  const sessionMessages: SessionMessages = {
    send: async (wish) => (await engines()).sessionMessages.send(wish),
    recover,
    close,
  };
  return { children, sessionMessages, recover, close };
}
