// Asks people for approval: durable before anyone is asked, the first durable answer wins, and it is started at most once.
import { OpenClawError } from "../core/error.ts";
import type { Clock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Log } from "../base/log.ts";
import type { ApprovalCard, ApprovalDecision, ApprovalKind } from "../protocol/approval.ts";
import type { Store } from "../store/store.ts";
import { grantOf, type Grant, type GrantUser } from "./grant.ts";
import type { ApprovalHandler } from "./handler.ts";
import { createHandlers } from "./handlers.ts";
import { requireFreeId, requireSessionCapacity, resolveId } from "./ids.ts";
import { createListeners, type ApprovalListener } from "./listeners.ts";
import { isClosed, redactClosed, type Answerer, type Approval, type HandlerName } from "./record.ts";
import { createApprovalStore } from "./store.ts";
import * as transitions from "./transitions.ts";
import { createWaiters } from "./waiters.ts";

export interface ApprovalBroker {
  /** Reads what an earlier process left and closes what cannot go on. Done once; every other call waits for it. */
  recover(): Promise<void>;
  /** Durable when it resolves. The handler must be registered. */
  ask<Subject>(handler: ApprovalHandler<Subject>, subject: Subject, request: transitions.AskRequest): Promise<Approval>;
  /** Asks for a client, which itself starts what is allowed. Durable when it resolves. */
  askForClient(request: ClientAskRequest): Promise<Approval>;
  /** `id` may be an unambiguous beginning of at least 8 characters. All but the first reject with `approval.unknown`. */
  answer(id: string, decision: ApprovalDecision, by: Answerer): Promise<Approval>;
  /** Null when it expired. A signal ends the wait, not the request. */
  wait(id: string, signal?: AbortSignal): Promise<ApprovalDecision | null>;
  /** Denies it for the asker, whose turn was stopped. False when it was already answered. */
  withdraw(id: string, reason: string): Promise<boolean>;
  /** Withdraws everything the gateway asked for this session; returns how many. Requests of clients stay. */
  withdrawAll(session: string, reason: string): Promise<number>;
  /**
   * True exactly once for an allowed approval, and durable: only then may the caller start. A `user` must be the one that
   * asked. Its handler judges it again; what that refuses is closed as denied.
   */
  begin(id: string, user?: GrantUser): Promise<boolean>;
  /** Records the outcome of what was started. */
  finish(id: string, outcome?: string): Promise<void>;
  get(id: string): Approval | undefined;
  /** Oldest first. */
  pending(): Approval[];
  /** What was decided, newest first, without secrets. */
  trail(limit: number): Approval[];
  /** What was allowed for this user and has not started. */
  grantFor(id: string, user: GrantUser): Grant | undefined;
  /** Everything that is allowed and has not started. */
  grants(): Grant[];
  /** Whether a person could answer. */
  reachable(): boolean;
  /** Adds a way to reach people; returns how to remove it. */
  reachBy(port: () => boolean): () => void;
  /**
   * Makes `handler` responsible for the approvals of this name; its code loads with the first one. Returns how to
   * unregister, which resolves when what the handler is doing has ended.
   */
  register(name: HandlerName, handler: () => Promise<ApprovalHandler>): () => Promise<void>;
  watch(listener: ApprovalListener): () => void;
  /** Ends waiting and timers; what is pending stays pending on disk. */
  close(): void;
}

export interface ClientAskRequest extends transitions.AskRequest {
  readonly kind: ApprovalKind;
  readonly card: ApprovalCard;
}

export interface BrokerDeps {
  readonly store: Pick<Store, "kv">;
  readonly clock: Clock;
  readonly log: Log;
  /** For closed approvals and the log; a pending card is shown unredacted, or redaction could hide what it does. */
  readonly mask?: (text: string) => string;
  /** How many closed approvals are stored. */
  readonly keep?: number;
}

/** Pause after a failed write of an end, because a full disk may have space again. */
const RETRY_MS = 5_000;

export function createApprovalBroker(deps: BrokerDeps): ApprovalBroker {
  return new Broker(deps);
}

class Broker implements ApprovalBroker {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mask: (text: string) => string;
  readonly #records: ReturnType<typeof createApprovalStore>;
  readonly #handlers: ReturnType<typeof createHandlers>;
  readonly #listeners: ReturnType<typeof createListeners>;
  readonly #waiters = createWaiters();
  readonly #lanes = createLanes();
  readonly #ports = new Set<() => boolean>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isOpen = true;
  #loaded: Promise<void> | undefined;

  constructor({ store, clock, log, mask = (text) => text, keep = 500 }: BrokerDeps) {
    this.#clock = clock;
    this.#log = log;
    this.#mask = mask;
    this.#records = createApprovalStore(store.kv, keep);
    this.#handlers = createHandlers(this, log);
    this.#listeners = createListeners(log);
  }

  recover(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  async ask<Subject>(
    handler: ApprovalHandler<Subject>,
    subject: Subject,
    request: transitions.AskRequest,
  ): Promise<Approval> {
    const { name, kind } = handler;
    this.#handlers.require(name);
    return this.#open(request, { handler: name, kind, card: handler.card(subject) });
  }

  askForClient({ kind, card, ...request }: ClientAskRequest): Promise<Approval> {
    return this.#open(request, { handler: null, kind, card });
  }

  async answer(given: string, decision: ApprovalDecision, by: Answerer): Promise<Approval> {
    await this.recover();
    const id = resolveId(given, this.pending());
    // In the order they came: a later answer must not overtake one that is being rechecked.
    const after = await this.#lanes.run(`answer ${id}`, async () => {
      const refusal = decision === "deny" ? undefined : await this.#refusalOf(id, decision);
      return this.#step(id, (current, now) => {
        const next = transitions.answered(current, { decision, by }, now);
        return refusal === undefined ? next : transitions.refused(next, refusal, now);
      });
    });
    if (after.state === "expired") throw transitions.unknownId();
    return after;
  }

  async wait(id: string, signal?: AbortSignal): Promise<ApprovalDecision | null> {
    await this.recover();
    const approval = this.#records.get(id);
    if (approval === undefined) throw transitions.unknownId();
    if (!this.#isOpen) throw closing();
    const settled = approval.state === "pending" ? await this.#waiters.wait(id, signal) : approval;
    return settled.state === "expired" ? null : (settled.decision ?? "deny");
  }

  async withdraw(id: string, reason: string): Promise<boolean> {
    await this.recover();
    if (this.#records.get(id) === undefined) return false;
    let wasPending = false;
    await this.#step(id, (current, now) => {
      wasPending = current.state === "pending";
      return transitions.withdrawn(current, reason, now);
    });
    return wasPending;
  }

  async withdrawAll(session: string, reason: string): Promise<number> {
    await this.recover();
    const asked = this.pending().filter((approval) => approval.handler !== null && approval.session === session);
    const done = await Promise.all(asked.map(({ id }) => this.withdraw(id, reason)));
    return done.filter((wasPending) => wasPending).length;
  }

  async begin(id: string, user?: GrantUser): Promise<boolean> {
    await this.recover();
    const known = this.#records.get(id);
    if (known === undefined || (user !== undefined && grantOf(known, user) === undefined)) return false;
    const refusal = await this.#refusalOf(id, known.decision ?? "deny");
    let isFirst = false;
    await this.#step(id, (current, now) => {
      if (user !== undefined && grantOf(current, user) === undefined) return current;
      if (refusal !== undefined) return transitions.refused(current, refusal, now);
      const next = transitions.started(current, now);
      isFirst = current.state === "allowed" && next.state === "started";
      return next;
    });
    return isFirst;
  }

  async finish(id: string, outcome?: string): Promise<void> {
    await this.recover();
    if (this.#records.get(id) === undefined) return;
    await this.#step(id, (current, now) => transitions.finished(current, outcome, now));
  }

  get(id: string): Approval | undefined {
    return this.#records.get(id);
  }

  pending(): Approval[] {
    return this.#records.all().filter(({ state }) => state === "pending");
  }

  trail(limit: number): Approval[] {
    const decided = this.#records.all().filter(({ state }) => state !== "pending");
    return decided
      .reverse()
      .slice(0, limit)
      .map((approval) => redactClosed(approval, this.#mask));
  }

  grantFor(id: string, user: GrantUser): Grant | undefined {
    const approval = this.#records.get(id);
    if (approval === undefined || this.#clock.now() >= transitions.grantEnd(approval)) return undefined;
    return grantOf(approval, user);
  }

  grants(): Grant[] {
    return this.#records.all().flatMap(({ id, agent, session }) => this.grantFor(id, { agent, session }) ?? []);
  }

  reachable(): boolean {
    return [...this.#ports].some((port) => port());
  }

  reachBy(port: () => boolean): () => void {
    this.#ports.add(port);
    return () => void this.#ports.delete(port);
  }

  register(name: HandlerName, handler: () => Promise<ApprovalHandler>): () => Promise<void> {
    return this.#handlers.register(name, handler);
  }

  watch(listener: ApprovalListener): () => void {
    return this.#listeners.watch(listener);
  }

  close(): void {
    this.#isOpen = false;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiters.close(closing());
  }

  async #open(request: transitions.AskRequest, form: transitions.RequestForm): Promise<Approval> {
    await this.recover();
    return this.#lanes.run("ask", async () => {
      const approval = transitions.opened(request, form, this.#clock.now());
      requireFreeId(approval.id, this.#records.get(approval.id) !== undefined, this.pending());
      requireSessionCapacity(approval.session, this.pending());
      await this.#write(approval);
      this.#listeners.emit("requested", approval);
      return approval;
    });
  }

  /** Why the rules in force do not allow it to start; undefined when they do. */
  async #refusalOf(id: string, decision: ApprovalDecision): Promise<string | undefined> {
    const approval = this.#records.get(id);
    // The method that uses the answer of a client's request judges that one.
    if (approval === undefined || isClosed(approval) || approval.handler === null) return undefined;
    const handler = await this.#handlers.require(approval.handler)();
    if (decision === "allow-always" && !handler.canAllowAlways) throw noAlways();
    try {
      await handler.recheck(approval);
      return undefined;
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      return error.message.split("\n")[0] ?? error.code;
    }
  }

  /** One change at a time for each approval, and stored before it is announced. */
  #step(id: string, transition: (current: Approval, now: number) => Approval): Promise<Approval> {
    return this.#lanes.run(`id ${id}`, async () => {
      const current = this.#records.get(id);
      if (current === undefined) throw transitions.unknownId();
      const next = transition(current, this.#clock.now());
      if (next === current) return current;
      await this.#write(next);
      if (current.state === "pending") {
        this.#waiters.settle(next);
        this.#tell("resolved", next);
      } else if (current.state === "allowed" && next.state === "denied") this.#tell("lapsed", next);
      else if (current.state === "started" && next.state === "done") this.#listeners.emit("finished", next);
      return next;
    });
  }

  #tell(event: "resolved" | "lapsed" | "interrupted", approval: Approval): void {
    this.#listeners.emit(event, approval);
    this.#handlers.deliver(event, approval);
  }

  async #write(approval: Approval): Promise<void> {
    if (!this.#isOpen) throw closing();
    await this.#records.put(isClosed(approval) ? redactClosed(approval, this.#mask) : approval);
    this.#audit(approval);
    this.#schedule(approval);
  }

  /** One timer for each approval: until it expires, then until it can no longer be started. */
  #schedule(approval: Approval, minDelayMs = 0): void {
    const { id, state, createdAtMs, expiresAtMs } = approval;
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (!this.#isOpen || (state !== "pending" && state !== "allowed")) return;
    // A clock that was set back must not extend the time.
    const delayMs =
      state === "allowed"
        ? transitions.GRANT_LIFE_MS
        : Math.min(expiresAtMs - this.#clock.now(), expiresAtMs - createdAtMs);
    const end = (current: Approval, now: number): Approval =>
      state === "pending"
        ? transitions.expired(current, now)
        : transitions.lapsed(current, transitions.NOT_STARTED_IN_TIME, now);
    const timer = setTimeout(
      () => {
        this.#step(id, end).catch((error: unknown) => {
          this.#log.error("an approval could not be closed; trying again", { id, error });
          this.#schedule(approval, RETRY_MS);
        });
      },
      Math.max(minDelayMs, delayMs),
    );
    this.#timers.set(id, timer.unref());
  }

  async #load(): Promise<void> {
    const { unreadable } = await this.#records.load();
    for (const key of unreadable) this.#log.error("an approval could not be read; it counts as denied", { id: key });
    for (const approval of this.#records.all()) await this.#resume(approval);
  }

  /** Starts nothing that an earlier process was about to start: how far that got is unknown. */
  async #resume(approval: Approval): Promise<void> {
    const { id, state, expiresAtMs } = approval;
    if (state === "pending" && this.#clock.now() < expiresAtMs) return this.#schedule(approval);
    if (state === "pending") return void (await this.#step(id, transitions.expired));
    const stopped = "the gateway stopped between the answer and the start; nothing was run";
    if (state === "allowed")
      return void (await this.#step(id, (current, now) => transitions.lapsed(current, stopped, now)));
    if (state !== "started") return;
    const unknown = "the gateway stopped while it ran; the outcome is not known";
    this.#tell("interrupted", await this.#step(id, (current, now) => transitions.finished(current, unknown, now)));
  }

  #audit({ id, kind, state, agent, session, decision, answeredBy, reason, request }: Approval): void {
    const facts = { id, kind, agent, session, decision, by: answeredBy, reason };
    this.#log.info(
      `approval ${state}`,
      state === "pending" ? { ...facts, command: this.#mask(request.command) } : facts,
    );
  }
}

function noAlways(): OpenClawError {
  return new OpenClawError("approval.no-always", "invalid decision: this can be allowed once or denied", {
    hint: "allow-once or deny",
  });
}

function closing(): OpenClawError {
  return new OpenClawError("gateway.closing", "the gateway is closing; the approval stays as it is");
}
