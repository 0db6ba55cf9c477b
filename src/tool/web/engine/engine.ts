// The contract of a search engine.
import type { Config } from "../../../config/schema/index.ts";
import type { Env } from "../../../base/paths.ts";
import type { WebDeps } from "../deps.ts";

export type SearchConfig = NonNullable<NonNullable<NonNullable<Config["tools"]>["web"]>["search"]>;

export interface Query {
  readonly query: string;
  readonly count: number;
  readonly country?: string | undefined;
  readonly search_lang?: string | undefined;
  readonly ui_lang?: string | undefined;
  readonly freshness?: Freshness | undefined;
}

/** One of the last day, week, month and year, or a range of days. */
export type Freshness = "pd" | "pw" | "pm" | "py" | { readonly from: string; readonly to: string };

export interface EngineContext extends Pick<WebDeps, "guard" | "extraction"> {
  readonly config: SearchConfig;
  readonly env: Env;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Hit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly siteName?: string | undefined;
  readonly published?: string | undefined;
}

export type Answer =
  | { readonly results: readonly Hit[] }
  /** An answer in words with its sources. */
  | { readonly content: string; readonly citations: readonly string[]; readonly model: string };

/** What the owner must do before the engine works. */
export interface Missing {
  readonly error: "missing_api_key" | "missing_base_url";
  readonly message: string;
  readonly configPath: string;
  readonly env?: string;
  readonly signUp?: string;
}

export interface Engine {
  readonly id: "brave" | "perplexity" | "searxng" | "duckduckgo";
  /** Parameters that it cannot honor; the answer says so. */
  readonly ignores: readonly (keyof Query)[];
  missing(context: Pick<EngineContext, "config" | "env">): Missing | undefined;
  /** Settings that change the answer, for the cache key. No secrets. */
  settings(context: Pick<EngineContext, "config" | "env">): readonly string[];
  search(query: Query, context: EngineContext): Promise<Answer>;
}

/** Text of a JSON field; "" for anything else. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Only web addresses are results. */
export const isWebUrl = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

/** HTML tags and entities in titles and snippets. */
export function withoutMarkup(text: string): string {
  return text
    .replaceAll(/<[^<>]{0,200}>/g, "")
    .replaceAll(
      /&(amp|lt|gt|quot|apos|nbsp|#x?[0-9a-f]{1,6});/gi,
      (all, name: string) => entity(name.toLowerCase()) ?? all,
    )
    .replaceAll(/\s+/g, " ")
    .trim();
}

function entity(name: string): string | undefined {
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
  if (!name.startsWith("#")) return named[name];
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
