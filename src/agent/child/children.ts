// The sub-agents of the house: started durably, ended exactly once, told exactly once, put away in time.
import { HouseError } from "../../core/error.ts";
import type { RunOutcome } from "../../core/event.ts";
import { splitSessionKey, type SessionKey } from "../../core/names.ts";
import { newId } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Mask } from "../../base/mask.ts";
import type { Outbound } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ModelBook } from "../../model/model.ts";
import { childOf, type Child, type ChildResult, type Children, type SpawnWish } from "../../session/children.ts";
import { newSession } from "../../session/session.ts";
import type { Turns } from "../../session/turns.ts";
import type { ChildStatus, Store } from "../../store/store.ts";
import { cutText } from "../result.ts";
import { pickModel, pickThinking } from "./choice.ts";
import { newOffspring, NO_LIMIT_MS, requireRoom, targetOf, type Offspring } from "./spawn.ts";
import { announcement, plainWords } from "./words.ts";

export interface ChildrenDeps {
  readonly store: Pick<Store, "children" | "sessions">;
  readonly turns: () => Turns;
  readonly models: Pick<ModelBook, "candidates" | "list">;
  readonly outbound: Outbound;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: Mask;
}

const MAX_RESULT_CHARS = 16_000;
const LISTED = 100;
const RETRY_MS = 30_000;
const KEEP_MS = 14 * 24 * 3_600_000;
const BUSY_MS = 60_000;
const STOP_TRIES = 100;
const STOP_PAUSE_MS = 20;

export function createChildren(deps: ChildrenDeps): Children {
  const { store, turns, clock, log } = deps;
  /** At work or being started, of sessions that have some: the table alone would lag behind many starts at once. */
  const atWork = new Map<SessionKey, Promise<{ count: number }>>();
  const retries = new Set<NodeJS.Timeout>();
  let archiving: NodeJS.Timeout | undefined;
  let isClosed = false;

  const later = (what: string, work: () => Promise<void>): void => {
    work().catch((error: unknown) => {
      if (isClosed || (error instanceof HouseError && error.code === "gateway.stopping")) return;
      log.warn(`${what}; it is tried again`, { error });
      const timer = setTimeout(() => {
        retries.delete(timer);
        later(what, work);
      }, RETRY_MS).unref();
      retries.add(timer);
    });
  };

  /** Throws when there is no room for one more. */
  const enter = async (session: SessionKey, config: Config): Promise<void> => {
    const known = atWork.get(session) ?? store.children.running(session).then((count) => ({ count }));
    atWork.set(session, known);
    const place = await known;
    requireRoom(place.count, config);
    place.count += 1;
  };
  const leave = async (session: SessionKey): Promise<void> => {
    const place = await atWork.get(session);
    if (place === undefined) return;
    place.count -= 1;
    if (place.count <= 0) atWork.delete(session);
  };

  const follow = async (child: Child): Promise<void> => {
    if (child.state === "running") {
      const outcome = await turns().wait(child.runId, NO_LIMIT_MS);
      if (isClosed) return;
      const ended = await finish(child, statusOf(outcome), resultOf(outcome, child, deps));
      if (ended !== undefined) await tell(ended);
      return;
    }
    await tell(child);
  };

  /** Undefined when somebody else ended it first. */
  const finish = async (child: Child, status: ChildStatus, result: ChildResult): Promise<Child | undefined> => {
    const endedAt = clock.now();
    const minutes = deps.config().agents?.defaults?.subagents?.archiveAfterMinutes ?? 60;
    const ended = await store.children.update(child.runId, (current) => {
      if (current.state !== "running") return undefined;
      const archive = minutes === 0 ? {} : { archiveAt: endedAt + minutes * 60_000 };
      return { ...current, state: "ended", status, endedAt, ...archive, body: { ...childOf(current).body, result } };
    });
    if (ended !== undefined) await leave(child.requesterKey);
    if (ended !== undefined) log.info(`a sub-agent ended: ${status}`, { runId: child.runId, session: child.childKey });
    return ended === undefined ? undefined : childOf(ended);
  };

  const tell = async (child: Child): Promise<void> => {
    const { telling } = child.body;
    if (telling !== "none" && !(await hasRequester(child))) return;
    if (telling === "say") await turns().say(child.requesterKey, plainWords(child), `${child.runId}:told`);
    if (telling === "turn") await announce(child);
    await told(child);
  };

  /** Its result waits in the table: a session that comes back under the same key hears of it at the next start. */
  const hasRequester = async (child: Child): Promise<boolean> => {
    if ((await store.sessions.get(child.requesterKey)) !== undefined) return true;
    const { runId, requesterKey, status, endedAt = 0 } = child;
    log.warn("a sub-agent ended and nobody is there to hear of it", { runId, requesterKey, status });
    if (clock.now() - endedAt > KEEP_MS) await told(child);
    armArchive();
    return false;
  };

  const announce = async (child: Child): Promise<void> => {
    const { requesterKey, runId } = child;
    const [model] = await deps.models.candidates({ agentId: splitSessionKey(requesterKey).agentId });
    const announceId = `${runId}:announce`;
    if (model !== undefined || child.state === "announcing") {
      const text = announcement(child);
      const turn = { runId: announceId, sessionKey: requesterKey, text, source: "sessions_spawn", authorised: false };
      await turns().post(turn);
      await store.children.update(runId, (row) =>
        row.state === "ended" ? { ...row, state: "announcing" } : undefined,
      );
      const outcome = await turns().wait(announceId, NO_LIMIT_MS);
      if (isClosed) throw new HouseError("gateway.stopping", "the gateway is stopping");
      if (outcome?.status === "ok") return deliver(child, outcome);
    }
    // No agent could put it into words: the bare result is better than none.
    await turns().say(requesterKey, plainWords(child), `${runId}:told`);
  };

  const deliver = async ({ runId, body: { route } }: Child, outcome: RunOutcome): Promise<void> => {
    if (route === undefined || outcome.silent) return;
    const intent = { intentId: `${runId}:announce`, route, text: outcome.text };
    await deps.outbound
      .send(intent)
      .catch((error: unknown) => log.warn("the result of a sub-agent was not delivered", { error, runId }));
  };

  const told = async (child: Child): Promise<void> => {
    const now = clock.now();
    await store.children.update(child.runId, (row) => ({
      ...row,
      state: "told",
      ...(child.body.cleanup === "delete" ? { archiveAt: now } : {}),
    }));
    armArchive();
  };

  /** One timer for whichever is due first. */
  const armArchive = (): void => {
    const arm = async (): Promise<void> => {
      const next = await store.children.nextDue();
      clearTimeout(archiving);
      if (next === undefined || isClosed) return;
      const waitMs = Math.min(Math.max(next - clock.now(), 0), NO_LIMIT_MS);
      archiving = setTimeout(() => later("a sub-agent could not be put away", putAway), waitMs).unref();
    };
    later("the time to put sub-agents away is not known", arm);
  };

  const putAway = async (): Promise<void> => {
    const now = clock.now();
    for (const record of await store.children.due(now, LISTED)) {
      const { runId, childKey } = record;
      const isBusy = turns().active(childKey).length > 0;
      const transcript = childOf(record).body.cleanup === "delete";
      if (!isBusy) await store.sessions.delete(childKey, { transcript });
      await store.children.update(runId, ({ archiveAt: _due, ...row }) =>
        isBusy ? { ...row, archiveAt: now + BUSY_MS } : row,
      );
    }
    armArchive();
  };

  const spawn = async (wish: SpawnWish, offspring: Offspring, isNew: boolean): Promise<void> => {
    const { record, session, turn } = offspring;
    const { requester } = wish;
    const now = record.createdAt;
    // Asked for in one breath, so that they share one commit: all of it is there after a crash, or nothing.
    await Promise.all([
      store.children.add(record),
      store.sessions.put(session),
      ...(isNew ? [store.sessions.update(requester.session, (row) => row ?? newSession(requester.session, now))] : []),
      turns().post(turn),
    ]);
    later("a sub-agent could not be followed", () => follow(childOf(record)));
  };

  const stopOne = async (child: Child, telling: "say" | "none"): Promise<Child | undefined> => {
    const { runId, childKey } = child;
    await store.children.update(runId, (row) =>
      row.state === "running" ? { ...row, body: { ...childOf(row).body, telling } } : undefined,
    );
    // It may be between two stages where nothing can be stopped: asked again until it is over.
    for (let attempt = 0; attempt < STOP_TRIES; attempt++) {
      await turns().abort({ sessionKey: childKey, runId }, "the sub-agent was stopped");
      if ((await turns().wait(runId, STOP_PAUSE_MS)) !== undefined) break;
    }
    const outcome = await turns().wait(runId, 0);
    const current = await store.children.get(runId);
    const row = current === undefined ? child : childOf(current);
    const ended = await finish(row, outcome === undefined ? "killed" : statusOf(outcome), resultOf(outcome, row, deps));
    if (ended !== undefined) later("a sub-agent could not be told of", () => tell(ended));
    const last = await store.children.get(runId);
    return last?.status === "killed" ? childOf(last) : undefined;
  };

  return {
    async spawn(wish) {
      const config = deps.config();
      const target = targetOf(wish, config);
      if ("error" in target) return { status: "forbidden", error: target.error };
      const { session } = wish.requester;
      await enter(session, config);
      try {
        const pick = await pickModel(wish.model, target.agent, config, deps.models);
        const requester = await store.sessions.get(session);
        const offspring = newOffspring(
          wish,
          {
            agent: target.agent,
            model: pick.ref,
            thinking: pickThinking(wish.thinking, target.agent, config),
            requester,
          },
          clock.now(),
        );
        await spawn(wish, offspring, requester === undefined);
        const { runId, childKey } = offspring.record;
        const warning = pick.warning === undefined ? {} : { warning: pick.warning };
        return { status: "accepted", runId, childSessionKey: childKey, ...warning };
      } catch (error) {
        await leave(session);
        throw error;
      }
    },
    list: async (requester) => (await store.children.ofRequester(requester, LISTED)).map(childOf),
    async stop(requester, runIds, telling) {
      const running = (await store.children.runningOf(requester)).map(childOf);
      const chosen = runIds === "all" ? running : running.filter(({ runId }) => runIds.includes(runId));
      const stopped = await Promise.all(chosen.map((child) => stopOne(child, telling)));
      return stopped.filter((child) => child !== undefined);
    },
    async ask({ childKey }, text, timeoutMs, signal) {
      const turn = { runId: newId(), sessionKey: childKey, text, source: "sessions_spawn", authorised: false };
      await turns().post(turn);
      return turns().wait(turn.runId, timeoutMs, signal);
    },
    async recover() {
      await store.children.prune(clock.now() - KEEP_MS);
      const open = (await store.children.open()).map(childOf);
      if (open.length > 0) log.info(`${open.length} sub-agents of the last run are taken up again`);
      for (const child of open) later("a sub-agent could not be followed", () => follow(child));
      armArchive();
    },
    close() {
      isClosed = true;
      clearTimeout(archiving);
      for (const timer of retries) clearTimeout(timer);
      retries.clear();
    },
  };
}

/** How the house saw it end; the child's own words do not count. */
function statusOf(outcome: RunOutcome | undefined): ChildStatus {
  if (outcome === undefined) return "unknown";
  if (outcome.status === "ok") return "ok";
  if (outcome.status === "aborted") return "killed";
  if (outcome.failure?.code === "run.timeout") return "timeout";
  return outcome.failure?.code === "run.interrupted" ? "unknown" : "error";
}

function resultOf(outcome: RunOutcome | undefined, child: Child, { clock, mask }: ChildrenDeps): ChildResult {
  if (outcome === undefined) return { text: "", runtimeMs: clock.now() - child.createdAt };
  const { text, failure, startedAt, endedAt, usage, costUsd } = outcome;
  return {
    text: cutText(mask(text), MAX_RESULT_CHARS),
    ...(failure === undefined ? {} : { notes: mask(failure.message) }),
    runtimeMs: Math.max(0, endedAt - startedAt),
    ...(usage === undefined ? {} : { input: usage.input, output: usage.output }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}
