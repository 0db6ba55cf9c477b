// Perplexity Sonar, directly or by way of OpenRouter: an answer in words with its sources.
import { ToolError } from "../../../core/error.ts";
import { isRecord } from "../../../core/record.ts";
import { askService } from "../service.ts";
import { isWebUrl, textOf, type Engine, type EngineContext, type Query } from "./engine.ts";

const DIRECT = "https://api.perplexity.ai";
const OPENROUTER = "https://openrouter.ai/api/v1";
const recency = { pd: "day", pw: "week", pm: "month", py: "year" } as const;

export const perplexity: Engine = {
  id: "perplexity",
  ignores: ["country", "search_lang", "ui_lang"],
  missing(context) {
    if (accessOf(context) !== undefined) return undefined;
    return {
      error: "missing_api_key",
      message:
        "Perplexity needs an API key. The owner gets one at https://www.perplexity.ai/settings/api or https://openrouter.ai/keys and stores it with: openclaw configure --section web",
      configPath: "tools.web.search.perplexity.apiKey",
      env: "PERPLEXITY_API_KEY",
      signUp: "https://www.perplexity.ai/settings/api",
    };
  },
  settings: (context) => [accessOf(context)?.root ?? "", modelOf(context)],
  async search(query, context) {
    const { guard, timeoutMs, signal } = context;
    const { key, root } = accessOf(context) ?? { key: "", root: DIRECT };
    const model = modelOf(context);
    const answer = await askService(guard, {
      service: root === OPENROUTER ? "OpenRouter" : "Perplexity",
      url: `${root.replace(/\/+$/, "")}/chat/completions`,
      root,
      keyHint: "openclaw config set tools.web.search.perplexity.apiKey <key>",
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({
        model,
        messages: [{ role: "user", content: query.query }],
        ...dateFilter(query, isDirect(root)),
      }),
      timeoutMs,
      signal,
    });
    return { content: contentOf(answer), citations: citationsOf(answer), model };
  },
};

interface Access {
  readonly key: string;
  readonly root: string;
}

/** The kind of key decides where it goes, unless the config names the root. */
function accessOf({ config, env }: Pick<EngineContext, "config" | "env">): Access | undefined {
  const { apiKey, baseUrl } = config.perplexity ?? {};
  const found: readonly (readonly [string | undefined, string])[] = [
    [apiKey, apiKey?.startsWith("pplx-") === true ? DIRECT : OPENROUTER],
    [env["PERPLEXITY_API_KEY"], DIRECT],
    [env["OPENROUTER_API_KEY"], OPENROUTER],
  ];
  const [key, root] = found.find(([candidate]) => candidate !== undefined && candidate !== "") ?? [];
  return key === undefined || root === undefined ? undefined : { key, root: baseUrl ?? root };
}

const isDirect = (root: string): boolean => URL.parse(root)?.hostname !== "openrouter.ai";

/** Perplexity itself takes the bare id; OpenRouter wants the vendor in front. */
function modelOf(context: Pick<EngineContext, "config" | "env">): string {
  const model = context.config.perplexity?.model ?? "perplexity/sonar-pro";
  const root = accessOf(context)?.root ?? DIRECT;
  return URL.parse(root)?.hostname === "api.perplexity.ai" ? model.replace(/^perplexity\//, "") : model;
}

function dateFilter({ freshness }: Query, direct: boolean): Record<string, string> {
  if (freshness === undefined) return {};
  if (!direct)
    throw new ToolError("tool.bad-arguments", "freshness is not supported by Perplexity on OpenRouter", {
      hint: "leave out freshness",
    });
  if (typeof freshness === "string") return { search_recency_filter: recency[freshness] };
  const american = (day: string): string => day.replace(/^(\d{4})-0?(\d+)-0?(\d+)$/, "$2/$3/$1");
  return {
    search_after_date_filter: american(freshness.from),
    search_before_date_filter: american(freshness.to),
  };
}

function contentOf(answer: Readonly<Record<string, unknown>>): string {
  const choices: unknown = answer["choices"];
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isRecord(first) && isRecord(first["message"]) ? first["message"] : {};
  const content = textOf(message["content"]);
  if (content !== "") return content;
  throw new ToolError("web.garbage", "Perplexity returned no answer", {
    hint: "try again, or choose another provider",
  });
}

function citationsOf(answer: Readonly<Record<string, unknown>>): string[] {
  const listed = [answer["citations"], answer["search_results"]].flatMap((list): unknown[] =>
    Array.isArray(list) ? list : [],
  );
  const urls = listed.map((entry) => (isRecord(entry) ? textOf(entry["url"]) : textOf(entry)));
  return [...new Set(urls.filter((url) => isWebUrl(url)))];
}
