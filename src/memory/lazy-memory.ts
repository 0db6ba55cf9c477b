// Opens memory with the first search, and starts no thread for an agent without notes.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { RunEvent } from "../core/event.ts";
import { textOf, type Message } from "../core/message.ts";
import type { AgentId } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { forwardTo, lazy } from "../base/lazy.ts";
import type { Log } from "../base/log.ts";
import type { Env, Paths } from "../base/paths.ts";
import { agentOfSession } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { Memory } from "./memory.ts";
import { disabledBy, memorySettings } from "./settings.ts";
import type { Transcripts } from "./transcripts.ts";
import type { StoredEntry, Store } from "../store/store.ts";

export interface LazyMemory extends Memory {
  /** Listens to runs: the first run of a session updates the index in the background. */
  readonly onRun: (event: RunEvent) => void;
}

export interface LazyMemoryDeps {
  readonly paths: Paths;
  readonly env: Env;
  readonly store: Pick<Store, "sessions" | "transcript">;
  readonly log: Log;
  readonly config: () => Config;
}

interface Opened {
  readonly memory: Memory;
  close(): Promise<void>;
}

/** Delay after the start of a run, so that the first reply does not compete with indexing. */
const AFTER_START_MS = 500;
const MAX_SESSIONS = 2000;

export function createLazyMemory({ paths, env, store, log, config }: LazyMemoryDeps): LazyMemory {
  let isClosed = false;
  const begun = new Set<string>();
  const opening = lazy<Opened>(async () => {
    const { openMemory } = await import("./open.ts");
    const { openEmbedders } = await import("./embed/open.ts");
    const own = log.child("memory");
    const embedders = openEmbedders({ config, env, paths, clock: systemClock, log: own });
    const transcripts = transcriptsOf(store);
    const opened = openMemory({ config, paths, log: own, embedder: embedders.open, transcripts });
    return {
      memory: opened,
      async close() {
        await opened.close();
        await embedders.close();
      },
    };
  });
  const memory = async (): Promise<Memory> => {
    if (isClosed) throw new OpenClawError("memory.closed", "the gateway is stopping");
    return (await opening.get()).memory;
  };
  const begin = (agent: AgentId): void => {
    if (isClosed || !hasNotes(config(), agent, paths)) return;
    memory().then(
      (opened) => opened.begin(agent),
      (error: unknown) => log.warn("memory did not open", { error: String(error) }),
    );
  };
  return {
    ...forwardTo(memory, "search", "read", "status", "index"),
    begin,
    onRun({ body, sessionKey }) {
      if (body.stream !== "lifecycle" || body.phase !== "start" || begun.has(sessionKey)) return;
      if (begun.size >= MAX_SESSIONS) begun.clear();
      begun.add(sessionKey);
      const agent = agentOfSession(sessionKey, config());
      setTimeout(() => begin(agent), AFTER_START_MS).unref();
    },
    async close() {
      isClosed = true;
      await (await opening.opened())?.close();
    },
  };
}

/** Checks a few paths, so that an agent without notes needs no thread. */
function hasNotes(config: Config, agent: AgentId, paths: Paths): boolean {
  if (disabledBy(config, agent) !== undefined) return false;
  const { workspace, extraPaths, sources, onSessionStart } = memorySettings(config, agent, paths);
  if (!onSessionStart) return false;
  if (extraPaths.length > 0 || sources.includes("sessions")) return true;
  return ["MEMORY.md", "memory.md", "memory"].some((name) => existsSync(join(workspace, name)));
}

/** The text of people and agents, without tool output and images. */
function transcriptsOf({ sessions, transcript }: Pick<Store, "sessions" | "transcript">): Transcripts {
  return {
    async list(agentId) {
      const records = await sessions.list({ agentId, limit: MAX_SESSIONS });
      return Promise.all(
        records.map(async ({ sessionId, updatedAt }) => ({
          sessionId,
          updatedAt,
          entries: await transcript.count(sessionId),
        })),
      );
    },
    count: (sessionId) => transcript.count(sessionId),
    async lines(sessionId, from, to) {
      const entries = await transcript.tail(sessionId, to - from + 1, to + 1);
      const bySeq = new Map(entries.map((entry) => [entry.seq, lineOf(entry)]));
      return Array.from({ length: to - from + 1 }, (_each, at) => bySeq.get(from + at) ?? "");
    },
  };
}

function lineOf({ type, body }: StoredEntry): string {
  if (type !== "message") return "";
  const message = body as Message;
  if (message.role !== "user" && message.role !== "assistant") return "";
  const text = textOf(message.content.filter((block) => block.type === "text")).trim();
  return text === "" ? "" : `${message.role === "user" ? "User" : "Assistant"}: ${text}`;
}
