// /queue: what happens to messages that arrive during a run.
import { durationMs } from "../../base/duration.ts";
import { parseQueueMode, queueSettings } from "../../session/queue.ts";
import { answered, type Directive, type CommandRun } from "../command-run.ts";

const clearing: ReadonlySet<string> = new Set(["default", "reset"]);
const drops: ReadonlySet<string> = new Set(["old", "new", "summarize"]);
const optionPattern = /^(debounce|cap|drop)[:=](.*)$/is;
const MAX_DEBOUNCE_MS = 10 * 60_000;
const MAX_CAP = 1000;

export const queue: Directive = {
  name: "queue",
  takes: "collect|followup|steer|steer-backlog|interrupt|default [debounce:2s] [cap:25] [drop:old|new|summarize]",
  summary: "What happens to messages that arrive during a run",
  claims(words) {
    const other = words.findIndex((word, at) => {
      const isMode = at === 0 && (parseQueueMode(word.toLowerCase()) !== undefined || clearing.has(word.toLowerCase()));
      return !isMode && !optionPattern.test(word);
    });
    return other === -1 ? words.length : other;
  },
  async answer(args, commandRun) {
    if (args.trim() === "") return answered(`Queue: ${await queueText(commandRun)}. Usage: /queue ${queue.takes}`);
    const read = readQueue(args);
    if (typeof read === "string") return answered(`${read} Usage: /queue ${queue.takes}. Nothing was changed.`);
    await commandRun.patch(read);
    return answered(`Queue: ${await queueText(commandRun)}.`);
  },
  async once(args, commandRun) {
    if (args === "") return { note: `Queue: ${await queueText(commandRun)}.` };
    const read = readQueue(args);
    if (typeof read === "string") return { note: `${read} Nothing was changed.` };
    return typeof read.queueMode === "string" ? { settings: { queue: read.queueMode } } : {};
  },
};

/** Fields to set, or what is wrong. */
function readQueue(args: string): Record<string, string | number | null> | string {
  const found: Record<string, string | number | null> = {};
  for (const word of args.trim().split(/\s+/)) {
    const lower = word.toLowerCase();
    if (clearing.has(lower)) {
      Object.assign(found, { queueMode: null, queueDebounceMs: null, queueCap: null, queueDrop: null });
      continue;
    }
    const mode = parseQueueMode(lower);
    const field = mode === undefined ? readOption(lower) : { queueMode: mode };
    if (field === undefined) return `/queue does not know "${word.slice(0, 60)}".`;
    Object.assign(found, field);
  }
  return found;
}

function readOption(word: string): Record<string, string | number> | undefined {
  const [, name, value = ""] = optionPattern.exec(word) ?? [];
  if (name === "drop") return drops.has(value) ? { queueDrop: value } : undefined;
  if (name === "cap") return within({ queueCap: /^\d{1,6}$/.test(value) ? Number(value) : -1 }, 1, MAX_CAP);
  if (name === "debounce") return within({ queueDebounceMs: durationMs(value) ?? -1 }, 0, MAX_DEBOUNCE_MS);
  return undefined;
}

function within(field: Record<string, number>, least: number, most: number): Record<string, number> | undefined {
  return Object.values(field).every((value) => value >= least && value <= most) ? field : undefined;
}

/** The current rules of this session on one line. */
export async function queueText(commandRun: CommandRun): Promise<string> {
  const entry = await commandRun.entry();
  const { mode, debounceMs, cap, drop } = queueSettings(commandRun.config, entry, entry.lastChannel ?? entry.channel);
  return `${mode} (wait ${debounceMs} ms, keep ${cap}, then drop ${drop})`;
}
