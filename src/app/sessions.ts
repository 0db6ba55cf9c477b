// Opens subagents and messages between sessions; their code loads with the first use.
import type { Trust } from "../core/turn-source.ts";
import { systemClock } from "../base/clock.ts";
import { forwardTo, lazy } from "../base/lazy.ts";
import type { Outbound } from "../channel/outbound.ts";
import type { ModelBook } from "../model/model.ts";
import type { Subagents } from "../session/subagents.ts";
import { EXCHANGES, type SessionMessages } from "../session/session-messages.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenSessions {
  readonly children: Subagents;
  readonly sessionMessages: SessionMessages;
  /** Continues the work of an earlier process. */
  recover(): Promise<void>;
  /** Stops following; open work continues with the next start. */
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
  const openEngines = async (): Promise<Engines> => {
    const [{ SubagentService }, { SessionMessageService }, provenance] = await Promise.all([
      import("../agent/subagent/subagents.ts"),
      import("../agent/session-messages/session-messages.ts"),
      import("../session/provenance.ts"),
    ]);
    const trustOf = (turn: string): Promise<Trust> => provenance.trustOf(store, turn);
    const opened = {
      children: new SubagentService({ ...shared, models, mask, trustOf, log: log.child("children") }),
      sessionMessages: new SessionMessageService({ ...shared, log: log.child("talks") }),
    };
    // A run that ends during the shutdown can still open them; its request is stored, and the next start follows it.
    if (isClosed) closeAll(opened);
    return opened;
  };
  const closeAll = (opened: Engines): void => {
    opened.children.close();
    opened.sessionMessages.close();
  };
  const opening = lazy(openEngines);
  const engines = opening.get;
  const close = (): void => {
    isClosed = true;
    void opening.opened().then((opened) => (opened === undefined ? undefined : closeAll(opened)));
  };
  const recover = async (): Promise<void> => {
    const [open, due, exchanges] = await Promise.all([
      store.children.open(),
      store.children.nextDue(),
      store.kv.list(EXCHANGES),
    ]);
    if (isClosed || (open.length === 0 && due === undefined && exchanges.length === 0)) return;
    const { children, sessionMessages } = await engines();
    await Promise.all([children.recover(), sessionMessages.recover()]);
  };
  const children: Subagents = {
    ...forwardTo(async () => (await engines()).children, "spawn", "list", "stop", "ask"),
    recover,
    close,
  };
  const sessionMessages: SessionMessages = {
    ...forwardTo(async () => (await engines()).sessionMessages, "send"),
    recover,
    close,
  };
  return { children, sessionMessages, recover, close };
}
