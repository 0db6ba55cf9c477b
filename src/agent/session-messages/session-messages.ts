// Messages between sessions: stores the message, then runs the exchange of replies step by step, each step durable.
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
import { EXCHANGES, type SendAnswer, type SendRequest, type SessionMessages } from "../../session/session-messages.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import { nextStep, stepSession, stepTurn, type Exchange } from "./steps.ts";
import { depthOf, findTarget, refusalOf } from "./target.ts";

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

export class SessionMessageService implements SessionMessages {
  readonly #deps: SessionMessagesDeps;
  /** Exchanges that have not ended, by id. */
  readonly #open = new Map<string, Exchange>();
  readonly #closing = new AbortController();

  constructor(deps: SessionMessagesDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#closing.signal);
  }

  async send(request: SendRequest): Promise<SendAnswer> {
    const { store, turns } = this.#deps;
    const config = this.#deps.config();
    const target = await findTarget(request, config, store.sessions);
    if ("status" in target) return target;
    const refusal = refusalOf(request.from.session, target.key, [...this.#open.values()]);
    if (refusal !== undefined) return { status: "error", error: refusal };
    const exchange: Exchange = {
      id: newId(),
      requester: request.from.session,
      target: target.key,
      message: request.message,
      maxTurns: config.session?.agentToAgent?.maxPingPongTurns ?? DEFAULT_TURNS,
      turn: 0,
      depth: depthOf(request.from.session, [...this.#open.values()]),
      announcing: false,
      at: this.#deps.clock.now(),
    };
    await store
      .together(() => Promise.all([this.#save(exchange), turns().post(stepTurn(exchange))]))
      .catch((error: unknown) => {
        this.#open.delete(exchange.id);
        throw error;
      });
    this.#follow(exchange);
    if (request.timeoutMs === 0) return { status: "accepted", runId: exchange.id, sessionKey: target.key };
    return answerOf(exchange, request.timeoutMs, await turns().wait(exchange.id, request.timeoutMs, request.signal));
  }

  async recover(): Promise<void> {
    const { store, log } = this.#deps;
    const rows = (await store.kv.list(EXCHANGES)).map(({ value }) => value as Exchange);
    if (rows.length > 0)
      log.info(`continuing ${rows.length} ${rows.length === 1 ? "exchange" : "exchanges"} between sessions`);
    for (const exchange of rows) {
      this.#open.set(exchange.id, exchange);
      this.#follow(exchange);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #follow(exchange: Exchange): void {
    this.#runSteps(this.#open.get(exchange.id) ?? exchange).catch((error: unknown) => this.#retry(exchange, error));
  }

  async #runSteps(begun: Exchange): Promise<void> {
    for (let exchange: Exchange | undefined = begun; exchange !== undefined;) {
      const outcome = await this.#takeStep(exchange);
      if (this.#closing.signal.aborted) return;
      if (exchange.announcing && outcome !== undefined) await this.#deliver(exchange, outcome);
      const next: Exchange | undefined = outcome === undefined ? undefined : nextStep(exchange, outcome);
      if (next === undefined) return this.#remove(exchange);
      await this.#save(next);
      exchange = next;
    }
  }

  /** Posts the step, or finds it posted; undefined when its session no longer exists. */
  async #takeStep(exchange: Exchange): Promise<RunOutcome | undefined> {
    const { store, turns } = this.#deps;
    const isFirst = exchange.turn === 0 && !exchange.announcing;
    if (!isFirst && (await store.sessions.get(stepSession(exchange))) === undefined) return undefined;
    const turn = stepTurn(exchange);
    const { outcome } = await turns().post(turn);
    return outcome ?? turns().wait(turn.runId, NO_LIMIT_MS, this.#closing.signal);
  }

  /** Tries again after errors that can be temporary, such as a full disk or a long queue. */
  async #retry(exchange: Exchange, error: unknown): Promise<void> {
    const { log, retryMs = RETRY_MS } = this.#deps;
    const { id, requester, target } = exchange;
    const { signal } = this.#closing;
    const isStopping = error instanceof OpenClawError && error.code === "gateway.stopping";
    const canRetry = error instanceof OpenClawError && !isStopping && !signal.aborted;
    if (canRetry) {
      const facts = { error, id, requester, target };
      log.warn("an exchange between sessions could not continue; trying again later", facts);
      await sleep(retryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
    if (canRetry && !signal.aborted) return this.#follow(exchange);
    this.#open.delete(id);
    if (signal.aborted || isStopping) return;
    log.error("an exchange between sessions is paused until the next start", { error, id, requester, target });
  }

  /** Sends the announcement to the chat platform; the session already has the text. */
  async #deliver({ id, target }: Exchange, { status, silent, text }: RunOutcome): Promise<void> {
    const { store, outbound, log } = this.#deps;
    if (status !== "ok" || silent) return;
    const route = routeOf(await store.sessions.get(target));
    if (route === undefined) return;
    await outbound
      .send({ intentId: `${id}:announce`, route, text })
      .catch((error: unknown) => log.warn("an announcement was not delivered", { error, id, target }));
  }

  #save(exchange: Exchange): Promise<void> {
    this.#open.set(exchange.id, exchange);
    return this.#deps.store.kv.set(EXCHANGES, exchange.id, exchange);
  }

  async #remove({ id }: Exchange): Promise<void> {
    this.#open.delete(id);
    await this.#deps.store.kv.set(EXCHANGES, id, undefined);
  }
}

function answerOf(exchange: Exchange, timeoutMs: number, outcome: RunOutcome | undefined): SendAnswer {
  const named = { runId: exchange.id, sessionKey: exchange.target };
  if (outcome === undefined)
    return { ...named, status: "timeout", error: `no answer within ${timeoutMs / 1000} s; the run continues` };
  if (outcome.status === "ok") return { ...named, status: "ok", reply: outcome.text };
  return { ...named, status: "error", error: outcome.failure?.message ?? "the run was stopped" };
}
