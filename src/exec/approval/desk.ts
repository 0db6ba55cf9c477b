// Requests for a person's yes: durable before anybody is asked, the first durable answer wins, and is used at most once.
import { HouseError } from "../../core/error.ts";
import type { Clock } from "../../base/clock.ts";
import { createLanes } from "../../base/lane.ts";
import type { Log } from "../../base/log.ts";
import type { ApprovalDecision } from "../../protocol/approval.ts";
import type { Store } from "../../store/store.ts";
import { grantOf, type Grant, type User } from "./desk-grant.ts";
import * as moves from "./desk-moves.ts";
import { forTheTrail, isClosed, type Answerer, type Approval } from "./desk-record.ts";
import { createShelf } from "./desk-shelf.ts";

export interface ApprovalDesk {
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
  /** True exactly once for an allowed approval, and durable: only then may the caller start. A `user` must be its own. */
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
  /** What the recovery closed is told to later listeners too: who runs commands may be loaded after it. */
  watch(listener: DeskListener): () => void;
  /** Ends waiting and timers; what is pending stays pending on disk. */
  close(): void;
}

export interface DeskListener {
  /** Somebody should answer. */
  requested?(approval: Approval): void;
  /** Answered, expired or withdrawn; `reason` says why when it was not a person. */
  resolved?(approval: Approval): void;
  /** Was allowed, but nobody began it (the process died, or time was over): now denied, with a reason. */
  lapsed?(approval: Approval): void;
  /** Had begun when the process died: how it ended is not known. It is not begun again. */
  interrupted?(approval: Approval): void;
}

export interface DeskDeps {
  readonly store: Pick<Store, "kv">;
  readonly clock: Clock;
  readonly log: Log;
  /** For the trail; a card that waits is shown as it is, or a mask could hide what it does. */
  readonly mask?: (text: string) => string;
  /** How many closed approvals are kept. */
  readonly keep?: number;
}

const MAX_PENDING = 200;
const MIN_PREFIX = 8;

type Heard = keyof DeskListener;
type Waiter = PromiseWithResolvers<Approval>;

export function createApprovalDesk({ store, clock, log, mask = (text) => text, keep = 500 }: DeskDeps): ApprovalDesk {
  const shelf = createShelf(store.kv, keep);
  const lanes = createLanes();
  const listeners = new Set<DeskListener>();
  const ports = new Set<() => boolean>();
  const waiters = new Map<string, Set<Waiter>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isOpen = true;
  const recovered: (readonly [Heard, Approval])[] = [];
  let isLoading = false;
  let loaded: Promise<number> | undefined;

  const pending = (): Approval[] => shelf.all().filter(({ state }) => state === "pending");

  const desk: ApprovalDesk = {
    recover: () => (loaded ??= load()),
    async ask(request) {
      await desk.recover();
      return lanes.run("ask", async () => {
        const approval = moves.opened(request, clock.now());
        refuseClash(approval.id);
        await keepIt(approval);
        tell("requested", approval);
        return approval;
      });
    },
    async answer(given, decision, by) {
      await desk.recover();
      const after = await step(pendingNamed(given), (current, now) => moves.answered(current, decision, by, now));
      if (after.state === "expired") throw moves.unknownId();
      return after;
    },
    async wait(id, signal) {
      await desk.recover();
      const approval = shelf.get(id);
      if (approval === undefined) throw moves.unknownId();
      const settled = approval.state === "pending" ? await settling(id, signal) : approval;
      return settled.state === "expired" ? null : (settled.decision ?? "deny");
    },
    async withdraw(id, reason) {
      await desk.recover();
      let isMine = false;
      await step(id, (current, now) => {
        isMine = current.state === "pending";
        return moves.withdrawn(current, reason, now);
      });
      return isMine;
    },
    async begin(id, user) {
      await desk.recover();
      let isFirst = false;
      await step(id, (current, now) => {
        if (user !== undefined && grantOf(current, user) === undefined) return current;
        const next = moves.begun(current, now);
        isFirst = current.state === "allowed" && next.state === "started";
        return next;
      });
      return isFirst;
    },
    async finish(id, outcome) {
      await desk.recover();
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
    grants: () => shelf.all().flatMap(({ id, agent, session }) => desk.grantFor(id, { agent, session }) ?? []),
    reachable: () => [...ports].some((port) => port()),
    reachBy(port) {
      ports.add(port);
      return () => void ports.delete(port);
    },
    watch(listener) {
      listeners.add(listener);
      if (!isLoading && recovered.length > 0)
        queueMicrotask(() => recovered.forEach(([what, approval]) => tellOne(listener, what, approval)));
      return () => void listeners.delete(listener);
    },
    close() {
      isOpen = false;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      for (const waiter of [...waiters.values()].flatMap((set) => [...set])) waiter.reject(closing());
      waiters.clear();
    },
  };
  return desk;

  /** One change at a time for each approval; nobody hears of it before it is on disk. */
  function step(id: string, move: (current: Approval, now: number) => Approval): Promise<Approval> {
    return lanes.run(`id ${id}`, async () => {
      const current = shelf.get(id);
      if (current === undefined) throw moves.unknownId();
      const next = move(current, clock.now());
      if (next === current) return current;
      await keepIt(next);
      if (current.state === "pending") {
        for (const waiter of waiters.get(id) ?? []) waiter.resolve(next);
        tell("resolved", next);
      } else if (current.state === "allowed" && next.state === "denied") tell("lapsed", next);
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
  function schedule({ id, state, createdAtMs, expiresAtMs }: Approval): void {
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
        step(id, end).catch((error: unknown) => log.error("an approval could not be closed", { id, error }));
      },
      Math.max(0, delayMs),
    );
    timers.set(id, timer.unref());
  }

  /** Nothing that an earlier process had in hand is begun by this one: it cannot know how far that came. */
  async function load(): Promise<number> {
    isLoading = true;
    const { unreadable } = await shelf.load();
    for (const key of unreadable) log.error("an approval could not be read; it counts as denied", { id: key });
    const gone = "the gateway ended between the answer and the start; nothing was run";
    for (const approval of shelf.all()) {
      const { id, state, expiresAtMs } = approval;
      if (state === "allowed") await step(id, (current, now) => moves.lapsed(current, gone, now));
      else if (state === "pending" && clock.now() >= expiresAtMs) await step(id, moves.expired);
      else if (state === "pending") schedule(approval);
      else if (state === "started") {
        const outcome = "the gateway ended while it ran; how it ended is not known";
        tell("interrupted", await step(id, (current, now) => moves.finished(current, outcome, now)));
      }
    }
    isLoading = false;
    return pending().length + recovered.length;
  }

  function pendingNamed(given: string): string {
    const wanted = given.trim().toLowerCase();
    const found = pending().filter(({ id }) => {
      const own = id.toLowerCase();
      return own === wanted || (wanted.length >= MIN_PREFIX && own.startsWith(wanted));
    });
    if (found.length > 1)
      throw new HouseError("approval.ambiguous", `${found.length} approvals begin with "${wanted}"`, {
        hint: "give more of the id: openclaw approvals pending",
      });
    if (found[0] === undefined) throw moves.unknownId();
    return found[0].id;
  }

  /** An id is used once, and no id may be the beginning of another that waits: a short form must mean one thing. */
  function refuseClash(id: string): void {
    const wanted = id.toLowerCase();
    const waiting = pending();
    const clash = waiting.some((other) => {
      const own = other.id.toLowerCase();
      return own.startsWith(wanted) || wanted.startsWith(own);
    });
    if (clash || shelf.get(id) !== undefined)
      throw new HouseError("approval.id-taken", "this approval id is taken", { hint: "leave out the id" });
    if (waiting.length >= MAX_PENDING)
      throw new HouseError("approval.too-many", `${waiting.length} approvals wait already`, {
        hint: "openclaw approvals pending",
      });
  }

  async function settling(id: string, signal: AbortSignal | undefined): Promise<Approval> {
    if (!isOpen) throw closing();
    signal?.throwIfAborted();
    const waiter: Waiter = Promise.withResolvers();
    const mine = waiters.get(id) ?? new Set();
    waiters.set(id, mine.add(waiter));
    const onAbort = (): void => waiter.reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await waiter.promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      mine.delete(waiter);
      if (mine.size === 0) waiters.delete(id);
    }
  }

  function tell(what: Heard, approval: Approval): void {
    if (isLoading) recovered.push([what, approval]);
    for (const listener of listeners) tellOne(listener, what, approval);
  }

  /** A listener that fails must not undo what is already on disk, nor keep the others from hearing it. */
  function tellOne(listener: DeskListener, what: Heard, approval: Approval): void {
    try {
      listener[what]?.(approval);
    } catch (error) {
      log.error("a listener of the approvals failed", { id: approval.id, what, error });
    }
  }

  function audit({ id, kind, state, agent, session, decision, answeredBy, reason, request }: Approval): void {
    const facts = { id, kind, agent, session, decision, by: answeredBy, reason };
    log.info(`approval ${state}`, state === "pending" ? { ...facts, command: mask(request.command) } : facts);
  }
}

function closing(): HouseError {
  return new HouseError("gateway.closing", "the gateway is closing; the approval stays as it is");
}
