// Sessions that work together over an open house: sub-agents and talks. The engines load with the first of them.
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Outbound } from "../channel/outbound.ts";
import type { ModelBook } from "../model/model.ts";
import type { Children } from "../session/children.ts";
import { TALKS, type Talks } from "../session/talks.ts";
import type { House } from "./house.ts";

export interface OpenSessions {
  readonly children: Children;
  readonly talks: Talks;
  /** Takes up what an earlier process left. */
  recover(): Promise<void>;
  /** From here on nothing is followed any more; what is open goes on with the next start. */
  close(): void;
}

interface Engines {
  readonly children: Children;
  readonly talks: Talks;
}

export function openSessions(house: House, models: ModelBook, outbound: Outbound): OpenSessions {
  const { store, log, mask } = house;
  const shared = { store, turns: house.turns, outbound, config: () => house.settings.now().config, clock: systemClock };
  let isClosed = false;
  const open = async (): Promise<Engines> => {
    const [{ createChildren }, { createTalks }, words] = await Promise.all([
      import("../agent/child/children.ts"),
      import("../agent/talk/talks.ts"),
      import("./owner-words.ts"),
    ]);
    const isStrangerLed = (turn: string): Promise<boolean> => words.isStrangerLed(store, turn);
    const opened = {
      children: createChildren({ ...shared, models, mask, isStrangerLed, log: log.child("children") }),
      talks: createTalks({ ...shared, log: log.child("talks") }),
    };
    // A run that is being ended may still ask for the first of them: kept, and followed by the next start.
    if (isClosed) closeAll(opened);
    return opened;
  };
  const closeAll = (opened: Engines): void => {
    opened.children.close();
    opened.talks.close();
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
      store.kv.list(TALKS),
    ]);
    if (isClosed || (left.length === 0 && due === undefined && talking.length === 0)) return;
    const { children, talks } = await engines();
    await Promise.all([children.recover(), talks.recover()]);
  };
  const children: Children = {
    spawn: async (wish) => (await engines()).children.spawn(wish),
    list: async (requester) => (await engines()).children.list(requester),
    stop: async (requester, runIds, telling) => (await engines()).children.stop(requester, runIds, telling),
    ask: async (child, text, timeoutMs, signal) => (await engines()).children.ask(child, text, timeoutMs, signal),
    recover,
    close,
  };
  const talks: Talks = { send: async (wish) => (await engines()).talks.send(wish), recover, close };
  return { children, talks, recover, close };
}
