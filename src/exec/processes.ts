// The table of background commands: each agent sees its own, and finished ones stay for a while.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import { redactCommand } from "../base/command-secrets.ts";
import type { Log } from "../base/log.ts";
import { labelOf, newProcessId } from "./process-name.ts";
import type { Exit, Running } from "./running.ts";

export type ProcessState = "running" | "completed" | "failed" | "killed";

export interface ProcessOwner {
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly command: string;
  readonly cwd: string;
  /** True when it runs inside a sandbox; false by default. */
  readonly sandboxed?: boolean;
  /** True when starting it needed an approval or the owner's rights; true by default. */
  readonly privileged?: boolean;
  /** Derived from the command by default. */
  readonly name?: string;
}

export interface ProcessSession extends Required<ProcessOwner> {
  readonly id: string;
  readonly running: Running;
  state(): ProcessState;
  /** Undefined while the command runs. */
  exit(): Exit | undefined;
  /** True when the agent already knows about the end or caused it. */
  isExitKnown(): boolean;
  noteExitKnown(): void;
}

export interface ProcessTable {
  add(running: Running, owner: ProcessOwner): ProcessSession;
  /** Oldest first. */
  list(agent: AgentId): readonly ProcessSession[];
  /** Undefined for unknown ids and for ids of other agents. */
  get(agent: AgentId, id: string): ProcessSession | undefined;
  /** Removes the entry and its output; does not end a running command. */
  forget(entry: ProcessSession): Promise<void>;
  /** Called once per command, after its last output. Returns a function that stops listening. */
  onExit(listener: (entry: ProcessSession, exit: Exit) => void): () => void;
  close(): Promise<void>;
}

export interface ProcessTableDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The current `tools.exec.cleanupMs` of this agent; clamped here. */
  readonly cleanupMs: (agent: AgentId) => number | undefined;
}

const MIN_CLEANUP_MS = 60_000;
const MAX_CLEANUP_MS = 10_800_000;
const DEFAULT_CLEANUP_MS = 1_800_000;
/** The most finished commands; beyond it the oldest are removed early. */
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
    forget(entry).catch((error: unknown) => log.warn("could not remove the output of a command", { error }));
  };
  const expiryOf = (entry: ProcessSession): number =>
    (entry.exit()?.endedAt ?? Infinity) + clampCleanup(cleanupMs(entry.agent));
  /** One timer for all entries, set to the next expiry. */
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
    name: owner.name ?? labelOf(redactCommand(owner.command)),
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
