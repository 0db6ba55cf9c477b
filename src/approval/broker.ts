// Requests for a person's yes: durable before anybody is asked, the first durable answer wins, and is used at most once.
import { OpenClawError } from "../core/error.ts";
import type { Clock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Log } from "../base/log.ts";
import type { ApprovalDecision } from "../protocol/approval.ts";
import type { Store } from "../store/store.ts";
import { grantOf, type Grant, type User } from "./grant.ts";
import { createListeners, type ApprovalListener } from "./listeners.ts";
import * as moves from "./transitions.ts";
import { idNamed, refuseClash, refuseCrowd } from "./ids.ts";
import { forTheTrail, isClosed, type Answerer, type Approval } from "./record.ts";
import { createShelf } from "./store.ts";
import { createWaiters } from "./waiters.ts";

export interface ApprovalBroker {
  /**
   * Reads what an earlier process left, closes what cannot go on and tells the listeners, also those that come later.
   * Resolves with how many it found waiting or closed. Done once; every other call waits for it.
   */
  recover(): Promise<number>;
  /** Durable when it resolves. */
  ask(request: moves.AskRequest): Promise<Approval>;
  /** `id` may be an unambiguous beginning of at least 8 characters. All but the first reject with `approval.unknown`. */
  answer(id: string, decision: ApprovalDecision, by: Answerer): Promise<Approval>;
  /** Null when it expired. A signal ends the wait, not the request. */
  wait(id: string, signal?: AbortSignal): Promise<ApprovalDecision | null>;
  /** The asker no longer wants it (its turn was stopped): denied, no late answer revives it. False when it was answered. */
  withdraw(id: string, reason: string): Promise<boolean>;
  /** Everything the house asked for this session: whoever stopped it wants none of it begun later. Returns how many. */
  withdrawAll(session: string, reason: string): Promise<number>;
  /**
   * True exactly once for an allowed approval, and durable: only then may the caller start. A `user` must be its own. The
   * checks judge it once more; what they refuse is closed as denied, and the listeners are told why.
   */
  begin(id: string, user?: User): Promise<boolean>;
  /** What was begun has ended. */
  finish(id: string, outcome?: string): Promise<void>;
  get(id: string): Approval | undefined;
  /** Oldest first. */
  pending(): Approval[];
  /** What was decided, newest first, without secrets. */
  trail(limit: number): Approval[];
  /** What was allowed and not yet begun, if it was for this user. */
  grantFor(id: string, user: User): Grant | undefined;
  /** All that is allowed and not yet begun. */
  grants(): Grant[];
  /** Whether anybody could answer. */
  reachable(): boolean;
  /** Adds a way to people; returns how to take it away. */
  reachBy(port: () => boolean): () => void;
  /** Adds a check under the rules in force, run at the answer and at the start; it throws HouseError to refuse. */
  checkBy(check: (approval: Approval) => Promise<void>): () => void;
  /** What the recovery closed is told to later listeners too: who runs commands may be loaded after it. */
  watch(listener: ApprovalListener): () => void;
  /** Ends waiting and timers; what is pending stays pending on disk. */
  close(): void;
}

export interface BrokerDeps {
  readonly store: Pick<Store, "kv">;
  readonly clock: Clock;
  readonly log: Log;
  /** For the trail; a card that waits is shown as it is, or a mask could hide what it does. */
  readonly mask?: (text: string) => string;
  /** How many closed approvals are kept. */
  readonly keep?: number;
}

/** When the end of an approval could not be written: a full disk may have room again. */
const RETRY_MS = 5_000;

export function createApprovalBroker({
  store,
  clock,
  log,
  mask = (text) => text,
  keep = 500,
}: BrokerDeps): ApprovalBroker {
  const shelf = createShelf(store.kv, keep);
  const lanes = createLanes();
  const listeners = createListeners(log);
  const waiters = createWaiters();
  const ports = new Set<() => boolean>();
  const checks = new Set<(approval: Approval) => Promise<void>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isOpen = true;
  let loaded: Promise<number> | undefined;

  const pending = (): Approval[] => shelf.all().filter(({ state }) => state === "pending");

  const broker: ApprovalBroker = {
    recover: () => (loaded ??= load()),
    async ask(request) {
      await broker.recover();
      return lanes.run("ask", async () => {
        const approval = moves.opened(request, clock.now());
        refuseClash(approval.id, shelf.get(approval.id) !== undefined, pending());
        refuseCrowd(approval.session, pending());
        await keepIt(approval);
        listeners.tell("requested", approval);
        return approval;
      });
    },
    async answer(given, decision, by) {
      await broker.recover();
      const id = idNamed(given, pending());
      // In the order they came: a yes that is being checked is not overtaken.
      const after = await lanes.run(`answer ${id}`, async () => {
        const refusal = decision === "deny" ? undefined : await refusalOf(id);
        return step(id, (current, now) => {
          const next = moves.answered(current, decision, by, now);
          return refusal === undefined ? next : moves.refused(next, refusal, now);
        });
      });
      if (after.state === "expired") throw moves.unknownId();
      return after;
    },
    async wait(id, signal) {
      await broker.recover();
      const approval = shelf.get(id);
      if (approval === undefined) throw moves.unknownId();
      if (!isOpen) throw closing();
      const settled = approval.state === "pending" ? await waiters.wait(id, signal) : approval;
      return settled.state === "expired" ? null : (settled.decision ?? "deny");
    },
    async withdraw(id, reason) {
      await broker.recover();
      if (shelf.get(id) === undefined) return false;
      let isMine = false;
      await step(id, (current, now) => {
        isMine = current.state === "pending";
        return moves.withdrawn(current, reason, now);
      });
      return isMine;
    },
    async withdrawAll(session, reason) {
      await broker.recover();
      const asked = pending().filter((approval) => approval.origin === "house" && approval.session === session);
      const done = await Promise.all(asked.map(({ id }) => broker.withdraw(id, reason)));
      return done.filter((isMine) => isMine).length;
    },
    async begin(id, user) {
      await broker.recover();
      const known = shelf.get(id);
      if (known === undefined || (user !== undefined && grantOf(known, user) === undefined)) return false;
      const refusal = await refusalOf(id);
      let isFirst = false;
      await step(id, (current, now) => {
        if (user !== undefined && grantOf(current, user) === undefined) return current;
        if (refusal !== undefined) return moves.refused(current, refusal, now);
        const next = moves.begun(current, now);
        isFirst = current.state === "allowed" && next.state === "started";
        return next;
      });
      return isFirst;
    },
    async finish(id, outcome) {
      await broker.recover();
      if (shelf.get(id) === undefined) return;
      await step(id, (current, now) => moves.finished(current, outcome, now));
    },
    get: (id) => shelf.get(id),
    pending,
    trail: (limit) =>
      shelf
        .all()
        .filter(({ state }) => state !== "pending")
        .reverse()
        .slice(0, limit)
        .map((approval) => forTheTrail(approval, mask)),
    grantFor(id, user) {
      const approval = shelf.get(id);
      if (approval === undefined || clock.now() >= moves.grantEnd(approval)) return undefined;
      return grantOf(approval, user);
    },
    grants: () => shelf.all().flatMap(({ id, agent, session }) => broker.grantFor(id, { agent, session }) ?? []),
    reachable: () => [...ports].some((port) => port()),
    reachBy(port) {
      ports.add(port);
      return () => void ports.delete(port);
    },
    checkBy(check) {
      checks.add(check);
      return () => void checks.delete(check);
    },
    watch: (listener) => listeners.watch(listener),
    close() {
      isOpen = false;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      waiters.close(closing());
    },
  };
  return broker;

  /** Why the rules in force do not let it start; undefined when they do. */
  async function refusalOf(id: string): Promise<string | undefined> {
    const approval = shelf.get(id);
    if (approval === undefined || isClosed(approval)) return undefined;
    for (const check of checks) {
      try {
        await check(approval);
      } catch (error) {
        if (!(error instanceof OpenClawError)) throw error;
        return error.message.split("\n")[0] ?? error.code;
      }
    }
    return undefined;
  }

  /** One change at a time for each approval; nobody hears of it before it is on disk. */
  function step(id: string, move: (current: Approval, now: number) => Approval): Promise<Approval> {
    return lanes.run(`id ${id}`, async () => {
      const current = shelf.get(id);
      if (current === undefined) throw moves.unknownId();
      const next = move(current, clock.now());
      if (next === current) return current;
      await keepIt(next);
      if (current.state === "pending") {
        waiters.settle(next);
        listeners.tell("resolved", next);
      } else if (current.state === "allowed" && next.state === "denied") listeners.tell("lapsed", next);
      return next;
    });
  }

  async function keepIt(approval: Approval): Promise<void> {
    if (!isOpen) throw closing();
    await shelf.put(isClosed(approval) ? forTheTrail(approval, mask) : approval);
    audit(approval);
    schedule(approval);
  }

  /** One timer an approval: until it expires, then until an unused yes ends. */
  function schedule(approval: Approval, leastMs = 0): void {
    const { id, state, createdAtMs, expiresAtMs } = approval;
    clearTimeout(timers.get(id));
    timers.delete(id);
    if (!isOpen || (state !== "pending" && state !== "allowed")) return;
    // A clock that was set back must not make a request live longer than it was asked to.
    const delayMs =
      state === "allowed" ? moves.GRANT_LIFE_MS : Math.min(expiresAtMs - clock.now(), expiresAtMs - createdAtMs);
    const end = (current: Approval, now: number): Approval =>
      state === "pending"
        ? moves.expired(current, now)
        : moves.lapsed(current, "it was allowed, but not begun in time", now);
    const timer = setTimeout(
      () => {
        step(id, end).catch((error: unknown) => {
          log.error("an approval could not be closed; trying again", { id, error });
          schedule(approval, RETRY_MS);
        });
      },
      Math.max(leastMs, delayMs),
    );
    timers.set(id, timer.unref());
  }

  async function load(): Promise<number> {
    const { unreadable } = await shelf.load();
    for (const key of unreadable) log.error("an approval could not be read; it counts as denied", { id: key });
    const closed = await listeners.recovering(async () => {
      for (const approval of shelf.all()) await takeUp(approval);
    });
    return pending().length + closed;
  }

  /** Nothing that an earlier process had in hand is begun by this one: it cannot know how far that came. */
  async function takeUp(approval: Approval): Promise<void> {
    const { id, state, expiresAtMs } = approval;
    if (state === "pending" && clock.now() < expiresAtMs) return schedule(approval);
    if (state === "pending") return void (await step(id, moves.expired));
    const cut = "the gateway ended between the answer and the start; nothing was run";
    if (state === "allowed") return void (await step(id, (current, now) => moves.lapsed(current, cut, now)));
    if (state !== "started") return;
    const unsure = "the gateway ended while it ran; how it ended is not known";
    listeners.tell("interrupted", await step(id, (current, now) => moves.finished(current, unsure, now)));
  }

  function audit({ id, kind, state, agent, session, decision, answeredBy, reason, request }: Approval): void {
    const facts = { id, kind, agent, session, decision, by: answeredBy, reason };
    log.info(`approval ${state}`, state === "pending" ? { ...facts, command: mask(request.command) } : facts);
  }
}

function closing(): OpenClawError {
  return new OpenClawError("gateway.closing", "the gateway is closing; the approval stays as it is");
}
