// Subagents: started durably, ended once, reported once, archived on time.
import type { Trust } from "../../core/turn-source.ts";
import { newId } from "../../base/ids.ts";
import type { Mask } from "../../base/mask.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ModelBook } from "../../model/model.ts";
import { isMarkedUntrusted } from "../../session/provenance.ts";
import { childOf, type Child, type ChildResult, type Subagents, type SpawnRequest } from "../../session/subagents.ts";
import { newSession } from "../../session/session.ts";
import type { ChildStatus } from "../../store/store.ts";
import { createArchive } from "./archive.ts";
import { pickModel, pickThinking } from "./choose-model.ts";
import { resultOf, statusOf } from "./end.ts";
import { createLater } from "./retry-later.ts";
import { createChildLimit } from "./limit.ts";
import { newSubagent, NO_LIMIT_MS, targetOf, type NewSubagent } from "./spawn.ts";
import { KEEP_MS, tell, type TellDeps } from "./announce.ts";

export interface ChildrenDeps extends Omit<TellDeps, "closing"> {
  readonly models: Pick<ModelBook, "candidates" | "list">;
  readonly config: () => Config;
  readonly mask: Mask;
  readonly trustOf: (turn: string) => Promise<Trust>;
}

const LISTED = 100;
const STOP_TRIES = 100;
const STOP_PAUSE_MS = 20;

export function createSubagents(deps: ChildrenDeps): Subagents {
  const { store, turns, clock, log } = deps;
  const later = createLater(log);
  const childLimit = createChildLimit(store.children);
  const archive = createArchive(deps, later);
  const tellDeps: TellDeps = { ...deps, closing: later.closing };
  const end = (outcome: Parameters<typeof statusOf>[0], child: Child): [ChildStatus, ChildResult] => [
    statusOf(outcome),
    resultOf(outcome, child, deps),
  ];

  /** Continues from any state, also after a failure or a restart. */
  const follow = (runId: string): void =>
    later("a subagent could not be followed", async () => {
      const record = await store.children.get(runId);
      if (record === undefined || record.state === "told") return;
      const child = childOf(record);
      if (child.state !== "running") return tellOf(child);
      const outcome = await turns().wait(runId, NO_LIMIT_MS, later.closing);
      if (later.closing.aborted) return;
      const ended = await finish(child, ...end(outcome, child));
      if (ended !== undefined) await tellOf(ended);
    });
  const tellOf = async (child: Child): Promise<void> => {
    await tell(tellDeps, child);
    archive.arm();
  };

  /** Undefined when it was already ended. */
  const finish = async (child: Child, status: ChildStatus, result: ChildResult): Promise<Child | undefined> => {
    const { runId, childKey: session } = child;
    const endedAt = clock.now();
    const minutes = deps.config().agents?.defaults?.subagents?.archiveAfterMinutes ?? 60;
    const ended = await store.children.update(runId, (current) => {
      if (current.state !== "running") return undefined;
      const due = minutes === 0 ? {} : { archiveAt: Math.round(endedAt + minutes * 60_000) };
      return { ...current, state: "ended", status, endedAt, ...due, body: { ...childOf(current).body, result } };
    });
    if (ended === undefined) return undefined;
    await childLimit.leave(child.requesterKey);
    log.info(`a sub-agent ended: ${status}`, { runId, session });
    return childOf(ended);
  };

  const start = async (
    request: SpawnRequest,
    { record, session, turn }: NewSubagent,
    isNew: boolean,
  ): Promise<void> => {
    const own = request.requester.session;
    // One step, so that a crash leaves all of it or nothing.
    await store.together(() =>
      Promise.all([
        store.children.add(record),
        store.sessions.put(session),
        ...(isNew ? [store.sessions.update(own, (row) => row ?? newSession(own, record.createdAt))] : []),
        turns().post(turn),
      ]),
    );
    follow(record.runId);
  };

  const stopOne = async (child: Child, telling: "say" | "none"): Promise<Child | undefined> => {
    const { runId, childKey } = child;
    await store.children.update(runId, (row) =>
      row.state === "running" ? { ...row, body: { ...childOf(row).body, telling } } : undefined,
    );
    // Between two stages a run cannot be stopped, so the stop is repeated until it ends.
    for (let attempt = 0; attempt < STOP_TRIES; attempt++) {
      await turns().abort({ sessionKey: childKey, runId }, "the sub-agent was stopped");
      if ((await turns().wait(runId, STOP_PAUSE_MS)) !== undefined) break;
    }
    const outcome = await turns().wait(runId, 0);
    const [status, result] = end(outcome, child);
    const ended = await finish(child, outcome === undefined ? "killed" : status, result);
    if (ended !== undefined) follow(runId);
    const last = await store.children.get(runId);
    return last?.status === "killed" ? childOf(last) : undefined;
  };

  return {
    async spawn(request) {
      const config = deps.config();
      const target = targetOf(request, config);
      if ("error" in target) return { status: "forbidden", error: target.error };
      const { agent } = target;
      const { session } = request.requester;
      await childLimit.enter(session, config);
      try {
        const { ref: model, warning } = await pickModel(request.model, agent, config, deps.models);
        const thinking = pickThinking(request.thinking, agent, config);
        const requester = await store.sessions.get(session);
        const untrusted = (await deps.trustOf(request.turn)) === "untrusted";
        const child = newSubagent(request, { agent, model, thinking, requester, untrusted }, clock.now());
        await start(request, child, requester === undefined);
        const { runId, childKey: childSessionKey } = child.record;
        return { status: "accepted", runId, childSessionKey, ...(warning === undefined ? {} : { warning }) };
      } catch (error) {
        await childLimit.leave(session);
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
    async ask({ childKey, body }, text, timeoutMs, signal) {
      const runId = newId();
      const trust = isMarkedUntrusted(body) ? { untrusted: true as const } : {};
      await turns().post({ runId, sessionKey: childKey, text, source: "sessions_spawn", authorised: false, ...trust });
      return turns().wait(runId, timeoutMs, signal);
    },
    async recover() {
      await store.children.prune(clock.now() - KEEP_MS);
      const open = await store.children.open();
      if (open.length > 0) log.info(`${open.length} subagents of the last run are recovered`);
      for (const { runId } of open) follow(runId);
      archive.arm();
    },
    close() {
      later.close();
      archive.close();
    },
  };
}
