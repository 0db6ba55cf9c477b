// Messages between sessions: sent durably, then the exchange that follows, step by durable step.
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
import { EXCHANGES, type SendAnswer, type SessionMessages } from "../../session/session-messages.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import { nextStep, stepSession, stepTurn, type Exchange } from "./steps.ts";
import { crowded, depthOf, findTarget } from "./target.ts";

export interface SessionMessagesDeps {
  readonly store: Pick<Store, "sessions" | "kv" | "together">;
  readonly turns: () => Turns;
  readonly outbound: Outbound;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds until a step that failed is tried again. */
  readonly retryMs?: number;
}

const RETRY_MS = 30_000;
const NO_LIMIT_MS = 2 ** 31 - 1;
const DEFAULT_TURNS = 5;

export function createSessionMessages(deps: SessionMessagesDeps): SessionMessages {
  const { store, turns, log, clock } = deps;
  const open = new Map<string, Exchange>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  const keep = (exchange: Exchange): Promise<void> => {
    open.set(exchange.id, exchange);
    return store.kv.set(EXCHANGES, exchange.id, exchange);
  };
  const end = async ({ id }: Exchange): Promise<void> => {
    open.delete(id);
    await store.kv.set(EXCHANGES, id, undefined);
  };

  /** Posts the step, or finds it posted; undefined when its session no longer exists. */
  const take = async (exchange: Exchange): Promise<RunOutcome | undefined> => {
    const isFirst = exchange.turn === 0 && !exchange.announcing;
    if (!isFirst && (await store.sessions.get(stepSession(exchange))) === undefined) return undefined;
    const turn = stepTurn(exchange);
    const { outcome } = await turns().post(turn);
    return outcome ?? turns().wait(turn.runId, NO_LIMIT_MS, closing.signal);
  };
  const runSteps = async (begun: Exchange): Promise<void> => {
    for (let exchange: Exchange | undefined = begun; exchange !== undefined;) {
      const outcome = await take(exchange);
      if (closing.signal.aborted) return;
      if (exchange.announcing && outcome !== undefined) await deliver(exchange, outcome);
      const next: Exchange | undefined = outcome === undefined ? undefined : nextStep(exchange, outcome);
      if (next === undefined) return end(exchange);
      await keep(next);
      exchange = next;
    }
  };
  const follow = (exchange: Exchange): void => {
    const { id, requester, target } = exchange;
    runSteps(open.get(id) ?? exchange).catch(async (error: unknown) => {
      const isStopping = error instanceof OpenClawError && error.code === "gateway.stopping";
      // A full disk or a long queue can be temporary.
      const mayPass = error instanceof OpenClawError && !isStopping && !closing.signal.aborted;
      if (mayPass) {
        log.warn("an exchange between sessions could not continue; trying again later", {
          error,
          id,
          requester,
          target,
        });
        await sleep(deps.retryMs ?? RETRY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
      if (mayPass && !closing.signal.aborted) return follow(exchange);
      open.delete(id);
      if (closing.signal.aborted || isStopping) return;
      log.error("an exchange between sessions is paused until the next start", { error, id, requester, target });
    });
  };
  /** The session holds the text already; this sends it to the platform. */
  const deliver = async ({ id, target }: Exchange, { status, silent, text }: RunOutcome): Promise<void> => {
    if (status !== "ok" || silent) return;
    const route = routeOf(await store.sessions.get(target));
    if (route === undefined) return;
    await deps.outbound
      .send({ intentId: `${id}:announce`, route, text })
      .catch((error: unknown) => log.warn("an announcement was not delivered", { error, id, target }));
  };

  return {
    async send(request) {
      const config = deps.config();
      const target = await findTarget(request, config, store.sessions);
      if ("status" in target) return target;
      const busy = crowded(request.from.session, target.key, [...open.values()]);
      if (busy !== undefined) return { status: "error", error: busy };
      const exchange: Exchange = {
        id: newId(),
        requester: request.from.session,
        target: target.key,
        message: request.message,
        maxTurns: config.session?.agentToAgent?.maxPingPongTurns ?? DEFAULT_TURNS,
        turn: 0,
        depth: depthOf(request.from.session, [...open.values()]),
        announcing: false,
        at: clock.now(),
      };
      await store
        .together(() => Promise.all([keep(exchange), turns().post(stepTurn(exchange))]))
        .catch((error: unknown) => {
          open.delete(exchange.id);
          throw error;
        });
      follow(exchange);
      if (request.timeoutMs === 0) return { status: "accepted", runId: exchange.id, sessionKey: target.key };
      return answerOf(exchange, request.timeoutMs, await turns().wait(exchange.id, request.timeoutMs, request.signal));
    },
    async recover() {
      const rows = (await store.kv.list(EXCHANGES)).map(({ value }) => value as Exchange);
      if (rows.length > 0) log.info(`${rows.length} exchanges between sessions continue`);
      for (const exchange of rows) {
        open.set(exchange.id, exchange);
        follow(exchange);
      }
    },
    close() {
      closing.abort();
    },
  };
}

function answerOf(exchange: Exchange, timeoutMs: number, outcome: RunOutcome | undefined): SendAnswer {
  const named = { runId: exchange.id, sessionKey: exchange.target };
  if (outcome === undefined)
    return { ...named, status: "timeout", error: `no answer within ${timeoutMs / 1000} s; the run continues` };
  if (outcome.status === "ok") return { ...named, status: "ok", reply: outcome.text };
  return { ...named, status: "error", error: outcome.failure?.message ?? "the run was stopped" };
}
