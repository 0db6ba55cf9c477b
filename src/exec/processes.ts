// Commands that go on in the background: each agent sees its own, finished ones stay for a while.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import { hideCommandSecrets } from "../base/command-secrets.ts";
import type { Log } from "../base/log.ts";
import { labelOf, newProcessId } from "./process-name.ts";
import type { Exit, Running } from "./running.ts";

export type ProcessState = "running" | "completed" | "failed" | "killed";

export interface ProcessOwner {
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly command: string;
  readonly cwd: string;
  /** Behind the walls of a sandbox; what is not said to be is outside of them. */
  readonly sandboxed?: boolean;
  /** Somebody's yes or rights were needed to start it; so they were unless it is said that they were not. */
  readonly privileged?: boolean;
  /** Made from the command when left out. */
  readonly name?: string;
}

export interface ProcessSession extends Required<ProcessOwner> {
  readonly id: string;
  readonly running: Running;
  state(): ProcessState;
  /** Undefined while it runs. */
  exit(): Exit | undefined;
  /** True when the agent has read of the end, or brought it about. */
  isExitKnown(): boolean;
  noteExitKnown(): void;
}

export interface ProcessTable {
  add(running: Running, owner: ProcessOwner): ProcessSession;
  /** Oldest first. */
  list(agent: AgentId): readonly ProcessSession[];
  /** Undefined for unknown ids and for those of other agents alike. */
  get(agent: AgentId, id: string): ProcessSession | undefined;
  /** Drops it with its output; a running one is not ended by this. */
  forget(entry: ProcessSession): Promise<void>;
  /** Called once for each, after its last byte. Returns how to stop listening. */
  onExit(listener: (entry: ProcessSession, exit: Exit) => void): () => void;
  close(): Promise<void>;
}

export interface ProcessTableDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** `tools.exec.cleanupMs` as it is now for this agent; held within its bounds here. */
  readonly cleanupMs: (agent: AgentId) => number | undefined;
}

const MIN_CLEANUP_MS = 60_000;
const MAX_CLEANUP_MS = 10_800_000;
const DEFAULT_CLEANUP_MS = 1_800_000;
/** Finished ones; beyond it the oldest go first, whatever their time. */
const MAX_FINISHED = 500;

export function createProcessTable({ clock, log, cleanupMs }: ProcessTableDeps): ProcessTable {
  const entries = new Map<string, ProcessSession>();
  const listeners = new Set<(entry: ProcessSession, exit: Exit) => void>();
  let timer: NodeJS.Timeout | undefined;

  const forget = async (entry: ProcessSession): Promise<void> => {
    if (entries.get(entry.id) === entry) entries.delete(entry.id);
    await entry.running.output.discard();
  };
  const drop = (entry: ProcessSession): void => {
    forget(entry).catch((error: unknown) => log.warn("the output of a command could not be removed", { error }));
  };
  const expiryOf = (entry: ProcessSession): number =>
    (entry.exit()?.endedAt ?? Infinity) + clampCleanup(cleanupMs(entry.agent));
  /** One timer for all, set to whoever is next. */
  const sweep = (): void => {
    clearTimeout(timer);
    const finished = [...entries.values()]
      .filter((entry) => entry.exit() !== undefined)
      .sort((a, b) => (a.exit()?.endedAt ?? 0) - (b.exit()?.endedAt ?? 0));
    const excess = Math.max(0, finished.length - MAX_FINISHED);
    const isOver = (entry: ProcessSession, at: number): boolean => at < excess || expiryOf(entry) <= clock.now();
    for (const [at, entry] of finished.entries()) if (isOver(entry, at)) drop(entry);
    const next = Math.min(...finished.filter((entry, at) => !isOver(entry, at)).map(expiryOf));
    if (!Number.isFinite(next)) return;
    timer = setTimeout(sweep, Math.max(1000, next - clock.now()));
    timer.unref();
  };

  return {
    add(running, owner) {
      const entry = createEntry(
        newProcessId((id) => entries.has(id)),
        running,
        owner,
      );
      entries.set(entry.id, entry);
      void running.ended.then((exit) => {
        sweep();
        for (const listener of listeners) listener(entry, exit);
      });
      return entry;
    },
    list: (agent) => [...entries.values()].filter((entry) => entry.agent === agent),
    get(agent, id) {
      const entry = entries.get(id.trim().toLowerCase());
      return entry?.agent === agent ? entry : undefined;
    },
    forget,
    onExit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      clearTimeout(timer);
      listeners.clear();
      await Promise.all([...entries.values()].map(forget));
    },
  };
}

function clampCleanup(ms: number | undefined): number {
  return Math.min(MAX_CLEANUP_MS, Math.max(MIN_CLEANUP_MS, ms ?? DEFAULT_CLEANUP_MS));
}

function createEntry(id: string, running: Running, owner: ProcessOwner): ProcessSession {
  let exit: Exit | undefined;
  let isKnown = false;
  void running.ended.then((end) => {
    exit = end;
  });
  return {
    ...owner,
    sandboxed: owner.sandboxed ?? false,
    privileged: owner.privileged ?? true,
    name: owner.name ?? labelOf(hideCommandSecrets(owner.command)),
    id,
    running,
    state: () => stateOf(exit),
    exit: () => exit,
    isExitKnown: () => isKnown,
    noteExitKnown() {
      isKnown = true;
    },
  };
}

function stateOf(exit: Exit | undefined): ProcessState {
  if (exit === undefined) return "running";
  if (exit.reason === "killed") return "killed";
  return exit.code === 0 && exit.reason === undefined ? "completed" : "failed";
}
