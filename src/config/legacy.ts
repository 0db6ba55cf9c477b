// Legacy config keys and the keys that replaced them.
import { isRecord } from "../core/record.ts";
import type { Edit } from "./edit.ts";
import { formatPath, getAt, hasAt, type ConfigPath } from "./path.ts";

interface Move {
  /** `*` means any index or key. */
  readonly from: ConfigPath;
  /** The new path of the unchanged value; none when a person has to decide. */
  readonly to: readonly ConfigPath[];
  /** What to write, when `to` does not determine it. */
  readonly words?: string;
}

export interface LegacyKey {
  readonly path: ConfigPath;
  readonly message: string;
  readonly hint: string;
  /** Moves the value, where no decision is needed. */
  readonly edits: readonly Edit[];
}

/** Every legacy key in a value, the most specific first. */
export function findLegacyKeys(root: unknown): LegacyKey[] {
  const found: LegacyKey[] = [];
  for (const move of moves) {
    for (const path of matches(root, move.from, [])) {
      const covered = found.some((other) => isPrefix(other.path, path) || isPrefix(path, other.path));
      if (!covered) found.push(toLegacyKey(root, path, move));
    }
  }
  return found;
}

const moves: readonly Move[] = [
  { from: ["routing", "allowFrom"], to: [["channels", "whatsapp", "allowFrom"]] },
  {
    // Only the owner knows which of these channels is in use; a new section would enable a channel.
    from: ["routing", "groupChat", "requireMention"],
    to: [],
    words: 'groups."*".requireMention of channels.whatsapp, telegram or imessage',
  },
  { from: ["routing", "groupChat", "historyLimit"], to: [["messages", "groupChat", "historyLimit"]] },
  { from: ["routing", "groupChat", "mentionPatterns"], to: [["messages", "groupChat", "mentionPatterns"]] },
  { from: ["routing", "queue"], to: [["messages", "queue"]] },
  { from: ["routing", "bindings"], to: [["bindings"]] },
  { from: ["routing", "agents"], to: [], words: "agents.list, one entry with an id per agent" },
  { from: ["routing", "defaultAgentId"], to: [], words: "default: true on that entry of agents.list" },
  { from: ["routing", "agentToAgent"], to: [["tools", "agentToAgent"]] },
  { from: ["routing", "transcribeAudio"], to: [], words: "tools.media.audio.models" },
  { from: ["routing"], to: [], words: "messages, bindings, agents.list and channels" },
  { from: ["bindings", "*", "match", "accountID"], to: [["bindings", "*", "match", "accountId"]] },
  { from: ["bindings", "*", "match", "provider"], to: [["bindings", "*", "match", "channel"]] },
  { from: ["identity"], to: [], words: "agents.list[].identity of the agent it belongs to" },
  { from: ["agent", "allowedModels"], to: [], words: "agents.defaults.models, one key per model" },
  { from: ["agent", "modelAliases"], to: [], words: "agents.defaults.models.<model>.alias" },
  { from: ["agent", "modelFallbacks"], to: [], words: "agents.defaults.model.fallbacks" },
  { from: ["agent", "imageModelFallbacks"], to: [], words: "agents.defaults.imageModel.fallbacks" },
  { from: ["agent", "elevated"], to: [["tools", "elevated"]] },
  { from: ["agent", "bash"], to: [["tools", "exec"]] },
  { from: ["agent", "tools"], to: [["tools"]] },
  { from: ["agent", "*"], to: [["agents", "defaults", "*"]] },
  { from: ["agent"], to: [["agents", "defaults"]] },
  { from: ["tools", "bash"], to: [["tools", "exec"]] },
  { from: ["agents", "defaults", "exec"], to: [["tools", "exec"]] },
  { from: ["gateway", "token"], to: [["gateway", "auth", "token"]] },
  { from: ["messages", "tts", "enabled"], to: [], words: 'messages.tts.auto: "always" or "off"' },
  ...["whatsapp", "telegram", "discord", "slack", "signal", "imessage", "msteams"].map((channel): Move => ({
    from: [channel],
    to: [["channels", channel]],
  })),
];

function toLegacyKey(root: unknown, path: ConfigPath, { from, to, words }: Move): LegacyKey {
  const targets = to.map((target) => fillStars(target, from, path));
  const where = words ?? targets.map(formatPath).join(", ");
  const value = getAt(root, path);
  const puts = targets.map((target) => putEdits(root, target, value));
  const movable = puts.length > 0 && puts.every((edits) => edits !== undefined);
  const edits = movable ? [...puts.flatMap((edits) => edits ?? []), { path, remove: true } as const] : [];
  return {
    path,
    message: `is an older key; it is now ${where}`,
    hint: "move it there, or let: openclaw doctor --fix",
    edits,
  };
}

/** Undefined when the target is occupied; objects are merged. */
function putEdits(root: unknown, target: ConfigPath, value: unknown): Edit[] | undefined {
  if (!hasAt(root, target)) return [{ path: target, value }];
  if (!isRecord(value) || !isRecord(getAt(root, target))) return undefined;
  const parts = Object.entries(value).map(([key, child]) => putEdits(root, [...target, key], child));
  return parts.every((edits) => edits !== undefined) ? parts.flat() : undefined;
}

function matches(value: unknown, from: ConfigPath, path: ConfigPath): ConfigPath[] {
  const [first, ...rest] = from;
  if (first === undefined) return value === undefined ? [] : [path];
  if (first !== "*") return matches(getAt(value, [first]), rest, [...path, first]);
  if (Array.isArray(value)) return value.flatMap((item, index) => matches(item, rest, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => matches(child, rest, [...path, key]));
}

/** Each `*` of a target is replaced by what the same `*` of `from` matched. */
function fillStars(target: ConfigPath, from: ConfigPath, path: ConfigPath): ConfigPath {
  const taken = path.filter((_, index) => from[index] === "*");
  return target.map((segment) => (segment === "*" ? (taken.shift() ?? "*") : segment));
}

function isPrefix(start: ConfigPath, path: ConfigPath): boolean {
  return start.every((segment, index) => segment === path[index]);
}
