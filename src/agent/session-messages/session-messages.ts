// Messages between sessions: sent durably, the answer waited for, and the talk that follows, step by durable step.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../../core/error.ts";
import type { RunOutcome } from "../../core/event.ts";
import { newId } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import { routeOf } from "../../session/route.ts";
import { TALKS, type SendAnswer, type SessionMessages } from "../../session/session-messages.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import { nextStep, speakerOf, stepTurn, type Talk } from "./steps.ts";
import { crowded, depthOf, findTarget } from "./target.ts";

export interface SessionMessagesDeps {
  readonly store: Pick<Store, "sessions" | "kv" | "together">;
  readonly turns: () => Turns;
  readonly outbound: Outbound;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
  /** After a failure that may pass. */
  readonly retryMs?: number;
}

const RETRY_MS = 30_000;
const NO_LIMIT_MS = 2 ** 31 - 1;
const DEFAULT_TURNS = 5;

export function createSessionMessages(deps: SessionMessagesDeps): SessionMessages {
  const { store, turns, log, clock } = deps;
  const open = new Map<string, Talk>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  const keep = (talk: Talk): Promise<void> => {
    open.set(talk.id, talk);
    return store.kv.set(TALKS, talk.id, talk);
  };
  const end = async ({ id }: Talk): Promise<void> => {
    open.delete(id);
    await store.kv.set(TALKS, id, undefined);
  };

  /** Posts the step, or finds that it was posted before; undefined when nobody is there to take it. */
  const take = async (talk: Talk): Promise<RunOutcome | undefined> => {
    const isFirst = talk.turn === 0 && !talk.announcing;
    if (!isFirst && (await store.sessions.get(speakerOf(talk))) === undefined) return undefined;
    const turn = stepTurn(talk);
    const { outcome } = await turns().post(turn);
    return outcome ?? turns().wait(turn.runId, NO_LIMIT_MS, closing.signal);
  };
  const carryOn = async (begun: Talk): Promise<void> => {
    for (let talk: Talk | undefined = begun; talk !== undefined;) {
      const outcome = await take(talk);
      if (closing.signal.aborted) return;
      if (talk.announcing && outcome !== undefined) await deliver(talk, outcome);
      const next: Talk | undefined = outcome === undefined ? undefined : nextStep(talk, outcome);
      if (next === undefined) return end(talk);
      await keep(next);
      talk = next;
    }
  };
  const follow = (talk: Talk): void => {
    const { id, requester, target } = talk;
    carryOn(open.get(id) ?? talk).catch(async (error: unknown) => {
      const isStopping = error instanceof OpenClawError && error.code === "gateway.stopping";
      // What a full disk or a long queue refused may go through later.
      const mayPass = error instanceof OpenClawError && !isStopping && !closing.signal.aborted;
      if (mayPass) {
        log.warn("a talk between sessions could not go on; it is tried again", { error, id, requester, target });
        await sleep(deps.retryMs ?? RETRY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
      if (mayPass && !closing.signal.aborted) return follow(talk);
      open.delete(id);
      if (closing.signal.aborted || isStopping) return;
      log.error("a talk between sessions was broken off until the next start", { error, id, requester, target });
    });
  };
  /** In the session itself the words stand already; a platform gets them here. */
  const deliver = async ({ id, target }: Talk, { status, silent, text }: RunOutcome): Promise<void> => {
    if (status !== "ok" || silent) return;
    const route = routeOf(await store.sessions.get(target));
    if (route === undefined) return;
    await deps.outbound
      .send({ intentId: `${id}:announce`, route, text })
      .catch((error: unknown) => log.warn("an announcement was not delivered", { error, id, target }));
  };

  return {
    async send(wish) {
      const config = deps.config();
      const target = await findTarget(wish, config, store.sessions);
      if ("status" in target) return target;
      const busy = crowded(wish.from.session, target.key, [...open.values()]);
      if (busy !== undefined) return { status: "error", error: busy };
      const talk: Talk = {
        id: newId(),
        requester: wish.from.session,
        target: target.key,
        message: wish.message,
        maxTurns: config.session?.agentToAgent?.maxPingPongTurns ?? DEFAULT_TURNS,
        turn: 0,
        depth: depthOf(wish.from.session, [...open.values()]),
        announcing: false,
        at: clock.now(),
      };
      await store
        .together(() => Promise.all([keep(talk), turns().post(stepTurn(talk))]))
        .catch((error: unknown) => {
          open.delete(talk.id);
          throw error;
        });
      follow(talk);
      if (wish.timeoutMs === 0) return { status: "accepted", runId: talk.id, sessionKey: target.key };
      return answerOf(talk, wish.timeoutMs, await turns().wait(talk.id, wish.timeoutMs, wish.signal));
    },
    async recover() {
      const rows = (await store.kv.list(TALKS)).map(({ value }) => value as Talk);
      if (rows.length > 0) log.info(`${rows.length} talks between sessions go on`);
      for (const talk of rows) {
        open.set(talk.id, talk);
        follow(talk);
      }
    },
    close() {
      closing.abort();
    },
  };
}

function answerOf(talk: Talk, timeoutMs: number, outcome: RunOutcome | undefined): SendAnswer {
  const named = { runId: talk.id, sessionKey: talk.target };
  if (outcome === undefined)
    return { ...named, status: "timeout", error: `no answer within ${timeoutMs / 1000} s; the run goes on` };
  if (outcome.status === "ok") return { ...named, status: "ok", reply: outcome.text };
  return { ...named, status: "error", error: outcome.failure?.message ?? "the run was stopped" };
}
