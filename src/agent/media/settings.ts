// Which attachments of a message are understood, and by which entries of `tools.media`, in order. Pure.
import type { SessionKey } from "../../core/names.ts";
import type { Config } from "../../config/schema/index.ts";
import { matchesChat } from "../../session/send-policy.ts";
import type { SessionRecord } from "../../store/store.ts";

export const understoodKinds = ["image", "audio", "video"] as const;
export type UnderstoodKind = (typeof understoodKinds)[number];

type MediaConfig = NonNullable<NonNullable<Config["tools"]>["media"]>;
type KindConfig = NonNullable<MediaConfig[UnderstoodKind]>;
type ConfiguredEntry = NonNullable<MediaConfig["models"]>[number];

/** One thing to try, with the settings of its kind filled in. */
export interface MediaEntry {
  readonly use:
    | { readonly type: "provider"; readonly provider: string; readonly model: string | undefined }
    | { readonly type: "cli"; readonly command: string; readonly args: readonly string[] };
  readonly profile: string | undefined;
  readonly preferredProfile: string | undefined;
  readonly prompt: string | undefined;
  readonly language: string | undefined;
  readonly maxChars: number | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const defaults: Readonly<Record<UnderstoodKind, { maxBytes: number; timeoutSeconds: number }>> = {
  image: { maxBytes: 10_485_760, timeoutSeconds: 60 },
  audio: { maxBytes: 20_971_520, timeoutSeconds: 60 },
  video: { maxBytes: 52_428_800, timeoutSeconds: 120 },
};

/** Asked in this order when a kind is enabled without a list. */
const usualProviders: Readonly<Record<UnderstoodKind, readonly string[]>> = {
  image: ["openai", "anthropic", "google"],
  audio: ["openai", "groq", "google"],
  video: ["google"],
};

/** Entries of the kind, then shared entries that understand it. Empty when the kind is off or has no model. */
export function mediaEntries(config: Config, kind: UnderstoodKind): readonly MediaEntry[] {
  const media = config.tools?.media;
  const own = media?.[kind];
  if (own?.enabled === false) return [];
  const shared = (media?.models ?? []).filter((entry) => capabilitiesOf(entry).includes(kind));
  const listed = [...(own?.models ?? []).filter(({ capabilities = [kind] }) => capabilities.includes(kind)), ...shared];
  const found = listed.length === 0 && own?.enabled === true ? usualProviders[kind].map(provided) : listed;
  return found.flatMap((entry) => toEntry(entry, own, kind) ?? []);
}

const provided = (provider: string): ConfiguredEntry => ({ provider });

function capabilitiesOf({ capabilities, provider, type }: ConfiguredEntry): readonly string[] {
  if (capabilities !== undefined) return capabilities;
  if (type === "cli" || provider === "google") return understoodKinds;
  if (provider === "openai") return ["image", "audio"];
  return provider === "groq" ? ["audio"] : ["image"];
}

function toEntry(entry: ConfiguredEntry, own: KindConfig | undefined, kind: UnderstoodKind): MediaEntry | undefined {
  const { type, provider, model, command, args = [] } = entry;
  const use =
    type === "cli" || (provider === undefined && command !== undefined)
      ? command === undefined || command === ""
        ? undefined
        : ({ type: "cli", command, args } as const)
      : provider === undefined || provider === ""
        ? undefined
        : ({ type: "provider", provider: provider.toLowerCase(), model } as const);
  if (use === undefined) return undefined;
  return {
    use,
    profile: entry.profile,
    preferredProfile: entry.preferredProfile,
    prompt: entry.prompt ?? own?.prompt,
    language: entry.language ?? own?.language,
    maxChars: entry.maxChars ?? own?.maxChars,
    maxBytes: entry.maxBytes ?? own?.maxBytes ?? defaults[kind].maxBytes,
    timeoutMs: (entry.timeoutSeconds ?? own?.timeoutSeconds ?? defaults[kind].timeoutSeconds) * 1000,
    baseUrl: entry.baseUrl ?? own?.baseUrl,
    headers: { ...own?.headers, ...entry.headers },
  };
}

/** The attachments to understand, in the order of the message; the rest only gets a note. */
export function selectAttachments<T>(config: Config, kind: UnderstoodKind, given: readonly T[]): readonly T[] {
  const { mode = "first", maxAttachments = 1, prefer } = config.tools?.media?.[kind]?.attachments ?? {};
  const count = mode === "all" ? maxAttachments : 1;
  // Every attachment is a file in the media store: `path` and `url` select as `first` does.
  return prefer === "last" ? given.slice(Math.max(0, given.length - count)) : given.slice(0, count);
}

/** The first rule that matches the chat decides, otherwise the default. */
export function isInScope(
  config: Config,
  kind: UnderstoodKind,
  key: SessionKey,
  record: SessionRecord | undefined,
): boolean {
  const scope = config.tools?.media?.[kind]?.scope;
  const rule = (scope?.rules ?? []).find(({ match }) => matchesChat(match, key, record));
  return (rule?.action ?? scope?.default ?? "allow") === "allow";
}
