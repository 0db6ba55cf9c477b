// Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search
import { isRecord } from "../../../core/record.ts";
import { askService } from "../service.ts";
import {
  isWebUrl,
  textOf,
  withoutMarkup,
  type Engine,
  type EngineContext,
  type Freshness,
  type Hit,
} from "./engine.ts";

const ROOT = "https://api.search.brave.com";

export const brave: Engine = {
  id: "brave",
  ignores: [],
  missing(context) {
    if (keyOf(context) !== undefined) return undefined;
    return {
      error: "missing_api_key",
      message:
        "Brave Search needs an API key. The owner gets one at https://brave.com/search/api/ (plan Data for Search) and stores it with: openclaw configure --section web",
      configPath: "tools.web.search.apiKey",
      env: "BRAVE_API_KEY",
      signUp: "https://brave.com/search/api/",
    };
  },
  settings: ({ config }) => [config.baseUrl ?? ROOT],
  async search({ query, count, country, search_lang, ui_lang, freshness }, context) {
    const { config, guard, timeoutMs, signal } = context;
    const root = config.baseUrl ?? ROOT;
    const parameters = new URLSearchParams({ q: query, count: String(count) });
    const optional = { country, search_lang, ui_lang, freshness: freshnessText(freshness) };
    for (const [name, value] of Object.entries(optional)) if (value !== undefined) parameters.set(name, value);
    const answer = await askService(guard, {
      service: "Brave Search",
      url: `${root.replace(/\/+$/, "")}/res/v1/web/search?${parameters.toString()}`,
      root,
      keyHint: "openclaw config set tools.web.search.apiKey <key>",
      headers: { accept: "application/json", "x-subscription-token": keyOf(context) ?? "" },
      timeoutMs,
      signal,
    });
    const web = isRecord(answer["web"]) ? answer["web"] : {};
    const results = Array.isArray(web["results"]) ? web["results"] : [];
    return {
      results: results
        .filter(isRecord)
        .map(toHit)
        .filter(({ url }) => isWebUrl(url))
        .slice(0, count),
    };
  },
};

function keyOf({ config, env }: Pick<EngineContext, "config" | "env">): string | undefined {
  return config.apiKey || env["BRAVE_API_KEY"] || undefined;
}

function freshnessText(freshness: Freshness | undefined): string | undefined {
  return typeof freshness === "object" ? `${freshness.from}to${freshness.to}` : freshness;
}

function toHit(result: Readonly<Record<string, unknown>>): Hit {
  const profile = isRecord(result["profile"]) ? result["profile"] : {};
  return {
    title: withoutMarkup(textOf(result["title"])),
    url: textOf(result["url"]),
    snippet: withoutMarkup(textOf(result["description"])),
    siteName: textOf(profile["name"]) || undefined,
    published: textOf(result["age"]) || textOf(result["page_age"]) || undefined,
  };
}
