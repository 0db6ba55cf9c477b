// The web_search tool: one query to the search engine that the owner chose; results are marked as untrusted.
import { ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";
import { createTimedCache } from "../../media/guard/cache.ts";
import { defineTool, json, nonBlank, type ToolResult } from "../tool.ts";
import { webAvailable } from "./availability.ts";
import type { WebDeps } from "./deps.ts";
import { brave } from "./engine/brave.ts";
import { duckduckgo } from "./engine/duckduckgo.ts";
import type { Answer, Engine, Freshness, Missing, Query, SearchConfig } from "./engine/engine.ts";
import { perplexity } from "./engine/perplexity.ts";
import { searxng } from "./engine/searxng.ts";

const engines: Readonly<Record<string, Engine>> = { brave, perplexity, searxng, duckduckgo };
const MAX_RESULTS = 10;
const MAX_QUERY_CHARS = 400;
const MAX_FIELD_CHARS = 300;
const MAX_SNIPPET_CHARS = 2000;
const MAX_URL_CHARS = 2000;
const MAX_ANSWER_CHARS = 50_000;
const MAX_CITATIONS = 50;

export const createWebSearch = (deps: WebDeps) => {
  const cache = createTimedCache<Answer>(deps.clock);
  return defineTool({
    name: "web_search",
    summary: "Search the web",
    description:
      "Search the web for current information. Returns titles, URLs and snippets; read a page with web_fetch.",
    params: Type.Object(
      {
        query: nonBlank("What to search for."),
        count: Type.Optional(
          Type.Integer({ description: "Number of results, 1 to 10 (default: as configured, usually 5)." }),
        ),
        country: Type.Optional(Type.String({ description: "Two-letter country of the results, such as DE, or ALL." })),
        search_lang: Type.Optional(Type.String({ description: "Language of the results, such as de." })),
        ui_lang: Type.Optional(Type.String({ description: "Language of labels, such as de-DE." })),
        freshness: Type.Optional(
          Type.String({ description: "Age: pd, pw, pm, py (past day to year) or YYYY-MM-DDtoYYYY-MM-DD." }),
        ),
      },
      { additionalProperties: false },
    ),
    available: (env) => webAvailable("search", env),
    intent: ({ query }) => ({ does: "fetch", url: `search: ${query}` }),
    async run(args, { config, signal }): Promise<ToolResult> {
      const started = deps.clock.ticks();
      const search = config.tools?.web?.search ?? {};
      const engine = engineOf(search);
      const context = { config: search, env: deps.serviceEnv() };
      const missing = engine.missing(context);
      if (missing !== undefined) return json(adviceFor(missing, engine));
      const query = readQuery(args, search.maxResults ?? 5);
      const key = JSON.stringify([engine.id, engine.settings(context), query]);
      const cached = cache.get(key);
      const timeoutMs = (search.timeoutSeconds ?? 30) * 1000;
      const answer = cached ?? (await engine.search(query, { ...deps, ...context, timeoutMs, signal }));
      if (cached === undefined)
        cache.set(key, answer, (search.cacheTtlMinutes ?? 15) * 60_000, JSON.stringify(answer).length);
      return show(answer, query, engine, deps.clock.ticks() - started, cached !== undefined);
    },
  });
};

function engineOf({ provider = "brave" }: SearchConfig): Engine {
  const engine = engines[provider];
  if (engine !== undefined) return engine;
  throw new ToolError("web.no-provider", `the search provider ${provider} is not built`, {
    hint: `openclaw config set tools.web.search.provider ${Object.keys(engines).join("|")}`,
  });
}

/** A result and not an error: the model passes the advice on. */
function adviceFor({ message, ...facts }: Missing, { id }: Engine) {
  const keyless =
    facts.error === "missing_api_key"
      ? {
          message: `${message}. Without a key: tools.web.search.provider duckduckgo, or searxng with an instance of your own.`,
          keyless: ["duckduckgo", "searxng"],
        }
      : { message };
  return {
    ...facts,
    provider: id,
    ...keyless,
    command: "openclaw configure --section web",
    docs: "docs/guide/web.md",
  };
}

interface SearchArguments {
  readonly query: string;
  readonly count?: number;
  readonly country?: string;
  readonly search_lang?: string;
  readonly ui_lang?: string;
  readonly freshness?: string;
}

function readQuery({ query, count, country, search_lang, ui_lang, freshness }: SearchArguments, usual: number): Query {
  const clean = query.trim();
  if (clean.length > MAX_QUERY_CHARS)
    throw badArgument(`query is longer than ${MAX_QUERY_CHARS} characters`, "use fewer words");
  const language = /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i;
  if (country !== undefined && !/^(?:[a-z]{2}|all)$/i.test(country))
    throw badArgument(`country is a two-letter code or ALL, not ${JSON.stringify(country)}`, "country=DE");
  for (const [name, value] of Object.entries({ search_lang, ui_lang }))
    if (value !== undefined && !language.test(value))
      throw badArgument(`${name} is a language code, not ${JSON.stringify(value)}`, `${name}=de`);
  return {
    query: clean,
    count: Math.min(Math.max(1, count ?? usual), MAX_RESULTS),
    country: country?.toUpperCase(),
    search_lang,
    ui_lang,
    freshness: readFreshness(freshness),
  };
}

function readFreshness(text: string | undefined): Freshness | undefined {
  if (text === undefined || text === "") return undefined;
  const word = text.toLowerCase();
  if (word === "pd" || word === "pw" || word === "pm" || word === "py") return word;
  const [, from = "", to = ""] = /^(\d{4}-\d{2}-\d{2})to(\d{4}-\d{2}-\d{2})$/.exec(word) ?? [];
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  throw badArgument(
    `freshness is pd, pw, pm, py or two days in order, not ${JSON.stringify(text)}`,
    "freshness=2026-01-01to2026-01-31",
  );
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function badArgument(message: string, hint: string): ToolError {
  return new ToolError("tool.bad-arguments", message, { hint });
}

function show(answer: Answer, query: Query, { id, ignores }: Engine, tookMs: number, isCached: boolean) {
  const unused = ignores.filter((name) => query[name] !== undefined);
  const details = {
    query: query.query,
    provider: id,
    ...("results" in answer ? { count: answer.results.length } : {}),
    tookMs: Math.round(tookMs),
    ...(isCached ? { cached: true as const } : {}),
    ...(unused.length === 0 ? {} : { warning: `${id} ignores ${unused.join(", ")}` }),
    ...cleaned(answer),
  };
  const { query: _query, tookMs: _tookMs, ...shown } = details;
  const text = wrapUntrusted(JSON.stringify(shown, null, 1), `web search by ${id}`);
  return { content: [{ type: "text" as const, text }], details };
}

/** Every text of the engine is bounded and disarmed, because programs read it as fields without the marks. */
function cleaned(answer: Answer): Answer {
  if ("content" in answer)
    return {
      ...answer,
      content: clip(answer.content, MAX_ANSWER_CHARS),
      citations: answer.citations.slice(0, MAX_CITATIONS).map(cleanUrl),
    };
  return {
    results: answer.results.map(({ title, url, snippet, siteName, published }) => ({
      title: clip(title, MAX_FIELD_CHARS),
      url: cleanUrl(url),
      snippet: clip(snippet, MAX_SNIPPET_CHARS),
      ...(siteName === undefined ? {} : { siteName: clip(siteName, MAX_FIELD_CHARS) }),
      ...(published === undefined ? {} : { published: clip(published, MAX_FIELD_CHARS) }),
    })),
  };
}

const clip = (text: string, most: number): string => neutralize(text.slice(0, most));

/** As the URL parser writes it: without line breaks and spaces. */
const cleanUrl = (url: string): string => clip(URL.parse(url)?.href ?? "", MAX_URL_CHARS);
