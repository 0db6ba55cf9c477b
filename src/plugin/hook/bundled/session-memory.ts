// session-memory: when a session is reset, stores the end of the old one as a note for memory search.
import { join } from "node:path";

import { OpenClawError } from "../../../core/error.ts";
import type { Message } from "../../../core/message.ts";
import { openRoot } from "../../../base/rooted-fs.ts";
import { GREETING } from "../../../chat/command/new.ts";
import type { StoredEntry } from "../../../store/store.ts";
import { entryOf } from "../discover.ts";
import type { HookEvent } from "../hook.ts";
import type { BundledHook, BundledPorts } from "./bundled.ts";
import { sessionMemory as card } from "./cards.ts";

const DEFAULT_MESSAGES = 15;
const MAX_MESSAGES = 200;
const MAX_MESSAGE_CHARS = 4000;
/** Only messages count; tool results and other entries lie between them. */
const ENTRIES_PER_MESSAGE = 8;

/** System lines before a message; their continuation lines are indented. */
const NEWS = /^(?:System: \[.*(?:\n {2}.*)*\n?)+/;
const QUIET = /^(?:HEARTBEAT_OK|NO_REPLY)$/;

export function sessionMemory({ config, store, mask, log }: BundledPorts): BundledHook {
  return {
    card,
    async run(event) {
      const { sessionId, workspaceDir } = event.context;
      if (sessionId === undefined || workspaceDir === undefined) return;
      const settings = entryOf(config(), card.name) as { readonly messages?: unknown };
      const count =
        typeof settings.messages === "number" ? Math.min(settings.messages, MAX_MESSAGES) : DEFAULT_MESSAGES;
      const entries = await store.transcript.tail(sessionId, count * ENTRIES_PER_MESSAGE);
      const lines = entries.flatMap(lineOf).slice(-count);
      if (lines.length === 0) return;
      const written = await write(workspaceDir, event, mask(noteOf(event, lines)), slugOf(lines));
      log.info(`session-memory: wrote ${written}`);
    },
  };
}

interface SpokenLine {
  readonly who: "user" | "assistant";
  readonly text: string;
}

/** The conversation without commands, tools and system lines. */
function lineOf({ type, body }: StoredEntry): SpokenLine[] {
  if (type !== "message") return [];
  const { role, content } = body as Message;
  if (role !== "user" && role !== "assistant") return [];
  const text = content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .replace(NEWS, "")
    .trim();
  if (text === "" || text === GREETING || text.startsWith("/") || text.startsWith("[heartbeat]")) return [];
  if (QUIET.test(text)) return [];
  return [{ who: role, text: text.slice(0, MAX_MESSAGE_CHARS).toWellFormed() }];
}

function noteOf({ timestamp, sessionKey, context }: HookEvent, lines: readonly SpokenLine[]): string {
  const [day, time] = timestamp.toISOString().split("T");
  return [
    `# Session of ${day}, ended ${time?.slice(0, 8)} UTC`,
    "",
    `- Session: ${sessionKey} (${context.sessionId})`,
    `- Ended by a command from: ${context.commandSource ?? "unknown"}`,
    "",
    "## The end of the conversation",
    "",
    ...lines.map(({ who, text }) => `${who}: ${text}`),
    "",
  ].join("\n");
}

/** The first significant words of the person, found without a model. */
function slugOf(lines: readonly SpokenLine[]): string {
  const first = lines.find(({ who }) => who === "user") ?? lines[0];
  const words = (first?.text ?? "").toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const slug = words
    .filter((word) => !/^(?:the|and|for|you|can|please|with|that|this|what|system)$/.test(word))
    .slice(0, 4)
    .join("-");
  return slug.slice(0, 50) || "session";
}

/** Adds a number when a note of the same day and title exists; never replaces one. */
async function write(workspace: string, { timestamp }: HookEvent, text: string, slug: string): Promise<string> {
  const root = await openRoot({ root: workspace });
  const day = timestamp.toISOString().slice(0, 10);
  for (let number = 1; number <= 100; number++) {
    const path = join("memory", `${day}-${slug}${number === 1 ? "" : `-${number}`}.md`);
    if ((await root.stat(path)) !== undefined) continue;
    await root.write(path, Buffer.from(text, "utf8"));
    return path;
  }
  throw new OpenClawError("hook.bad", `there are too many notes called ${day}-${slug}`, {
    hint: `tidy ${join(workspace, "memory")}`,
  });
}
