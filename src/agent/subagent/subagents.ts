// Subagents: started durably, ended once, reported once, archived on time.
import type { RunOutcome } from "../../core/event.ts";
import type { SessionKey } from "../../core/names.ts";
import type { Trust } from "../../core/turn-source.ts";
import { newId } from "../../base/ids.ts";
import type { Mask } from "../../base/mask.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ModelBook } from "../../model/model.ts";
import { isMarkedUntrusted } from "../../session/provenance.ts";
import {
  childOf,
  type Child,
  type ChildResult,
  type SpawnAnswer,
  type SpawnRequest,
  type Subagents,
  type Telling,
} from "../../session/subagents.ts";
import { newSession } from "../../session/session.ts";
import type { ChildStatus } from "../../store/store.ts";
import { createArchive, type Archive } from "./archive.ts";
import { pickModel, pickThinking } from "./choose-model.ts";
import { resultOf, statusOf } from "./end.ts";
import { createLater, type Later } from "./retry-later.ts";
import { createChildLimit, type ChildLimit } from "./limit.ts";
import { newSubagent, NO_LIMIT_MS, targetOf, type NewSubagent } from "./spawn.ts";
import { announceEnd, KEEP_MS, type AnnounceDeps } from "./announce.ts";

export interface ChildrenDeps extends Omit<AnnounceDeps, "closing"> {
  readonly models: Pick<ModelBook, "candidates" | "list">;
  readonly config: () => Config;
  readonly mask: Mask;
  readonly trustOf: (turn: string) => Promise<Trust>;
}

const LISTED = 100;
const STOP_TRIES = 100;
const STOP_PAUSE_MS = 20;

export class SubagentService implements Subagents {
  readonly #deps: ChildrenDeps;
  readonly #later: Later;
  readonly #limit: ChildLimit;
  readonly #archive: Archive;

  constructor(deps: ChildrenDeps) {
    this.#deps = deps;
    this.#later = createLater(deps.log);
    this.#limit = createChildLimit(deps.store.children);
    this.#archive = createArchive(deps, this.#later);
  }

  async spawn(request: SpawnRequest): Promise<SpawnAnswer> {
    const { store, clock, models, trustOf } = this.#deps;
    const config = this.#deps.config();
    const target = targetOf(request, config);
    if ("error" in target) return { status: "forbidden", error: target.error };
    const { agent } = target;
    const { session } = request.requester;
    await this.#limit.enter(session, config);
    try {
      const { ref: model, warning } = await pickModel(request.model, agent, config, models);
      const thinking = pickThinking(request.thinking, agent, config);
      const requester = await store.sessions.get(session);
      const untrusted = (await trustOf(request.turn)) === "untrusted";
      const child = newSubagent(request, { agent, model, thinking, requester, untrusted }, clock.now());
      await this.#start(request, child, requester === undefined);
      const { runId, childKey: childSessionKey } = child.record;
      return { status: "accepted", runId, childSessionKey, ...(warning === undefined ? {} : { warning }) };
    } catch (error) {
      await this.#limit.leave(session);
      throw error;
    }
  }

  async list(requester: SessionKey): Promise<readonly Child[]> {
    return (await this.#deps.store.children.ofRequester(requester, LISTED)).map(childOf);
  }

  async stop(
    requester: SessionKey,
    runIds: readonly string[] | "all",
    telling: Exclude<Telling, "turn">,
  ): Promise<readonly Child[]> {
    const running = (await this.#deps.store.children.runningOf(requester)).map(childOf);
    const chosen = runIds === "all" ? running : running.filter(({ runId }) => runIds.includes(runId));
    const stopped = await Promise.all(chosen.map((child) => this.#stopOne(child, telling)));
    return stopped.filter((child) => child !== undefined);
  }

  async ask(
    { childKey, body }: Child,
    text: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<RunOutcome | undefined> {
    const turns = this.#deps.turns();
    const runId = newId();
    const trust = isMarkedUntrusted(body) ? { untrusted: true as const } : {};
    await turns.post({ runId, sessionKey: childKey, text, source: "sessions_spawn", authorised: false, ...trust });
    return turns.wait(runId, timeoutMs, signal);
  }

  async recover(): Promise<void> {
    const { store, clock, log } = this.#deps;
    await store.children.prune(clock.now() - KEEP_MS);
    const open = await store.children.open();
    if (open.length > 0)
      log.info(`recovering ${open.length} ${open.length === 1 ? "subagent" : "subagents"} of the last process`);
    for (const { runId } of open) this.#follow(runId);
    this.#archive.arm();
  }

  close(): void {
    this.#later.close();
    this.#archive.close();
  }

  /** Stores record, session and first turn in one step, so that a crash leaves all of them or none. */
  async #start(request: SpawnRequest, { record, session, turn }: NewSubagent, isNew: boolean): Promise<void> {
    const { store, turns } = this.#deps;
    const own = request.requester.session;
    await store.together(() =>
      Promise.all([
        store.children.add(record),
        store.sessions.put(session),
        ...(isNew ? [store.sessions.update(own, (row) => row ?? newSession(own, record.createdAt))] : []),
        turns().post(turn),
      ]),
    );
    this.#follow(record.runId);
  }

  /** Continues from any state, also after a failure or a restart. */
  #follow(runId: string): void {
    this.#later("a subagent could not be followed", async () => {
      const record = await this.#deps.store.children.get(runId);
      if (record === undefined || record.state === "told") return;
      const child = childOf(record);
      if (child.state !== "running") return this.#report(child);
      const outcome = await this.#deps.turns().wait(runId, NO_LIMIT_MS, this.#later.closing);
      if (this.#later.closing.aborted) return;
      const ended = await this.#finish(child, statusOf(outcome), resultOf(outcome, child, this.#deps));
      if (ended !== undefined) await this.#report(ended);
    });
  }

  async #report(child: Child): Promise<void> {
    await announceEnd({ ...this.#deps, closing: this.#later.closing }, child);
    this.#archive.arm();
  }

  /** Undefined when it had already ended. */
  async #finish(child: Child, status: ChildStatus, result: ChildResult): Promise<Child | undefined> {
    const { store, clock, config, log } = this.#deps;
    const { runId, childKey: session } = child;
    const endedAt = clock.now();
    const minutes = config().agents?.defaults?.subagents?.archiveAfterMinutes ?? 60;
    const ended = await store.children.update(runId, (current) => {
      if (current.state !== "running") return undefined;
      const due = minutes === 0 ? {} : { archiveAt: Math.round(endedAt + minutes * 60_000) };
      return { ...current, state: "ended", status, endedAt, ...due, body: { ...childOf(current).body, result } };
    });
    if (ended === undefined) return undefined;
    await this.#limit.leave(child.requesterKey);
    log.info(`a subagent ended: ${status}`, { runId, session });
    return childOf(ended);
  }

  async #stopOne(child: Child, telling: "say" | "none"): Promise<Child | undefined> {
    const { children } = this.#deps.store;
    const turns = this.#deps.turns();
    const { runId, childKey } = child;
    await children.update(runId, (row) =>
      row.state === "running" ? { ...row, body: { ...childOf(row).body, telling } } : undefined,
    );
    // Between two stages a run cannot be stopped, so the stop is repeated until it ends.
    for (let attempt = 0; attempt < STOP_TRIES; attempt++) {
      await turns.abort({ sessionKey: childKey, runId }, "the subagent was stopped");
      if ((await turns.wait(runId, STOP_PAUSE_MS)) !== undefined) break;
    }
    const outcome = await turns.wait(runId, 0);
    const status = outcome === undefined ? "killed" : statusOf(outcome);
    const ended = await this.#finish(child, status, resultOf(outcome, child, this.#deps));
    if (ended !== undefined) this.#follow(runId);
    const last = await children.get(runId);
    return last?.status === "killed" ? childOf(last) : undefined;
  }
}
