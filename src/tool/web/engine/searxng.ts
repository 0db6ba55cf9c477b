// SearXNG: an instance of the owner, no key (https://docs.searxng.org/dev/search_api.html).
import { ToolError } from "../../../core/error.ts";
import { isRecord } from "../../../core/record.ts";
import { askService } from "../service.ts";
import { isWebUrl, textOf, withoutMarkup, type Engine } from "./engine.ts";

const ranges = { pd: "day", pw: "week", pm: "month", py: "year" } as const;

export const searxng: Engine = {
  id: "searxng",
  ignores: ["country", "ui_lang"],
  missing({ config }) {
    if (config.searxng?.baseUrl !== undefined) return undefined;
    return {
      error: "missing_base_url",
      message:
        "SearXNG needs the address of an instance, such as http://127.0.0.1:8888. The owner stores it with: openclaw config set tools.web.search.searxng.baseUrl <url>",
      configPath: "tools.web.search.searxng.baseUrl",
    };
  },
  settings: ({ config }) => [config.searxng?.baseUrl ?? ""],
  async search({ query, count, search_lang, freshness }, { config, guard, timeoutMs, signal }) {
    if (typeof freshness === "object")
      throw new ToolError("tool.bad-arguments", "SearXNG has no date ranges", { hint: "use pd, pw, pm or py" });
    const root = config.searxng?.baseUrl ?? "";
    const parameters = new URLSearchParams({ q: query, format: "json" });
    if (search_lang !== undefined) parameters.set("language", search_lang);
    if (freshness !== undefined) parameters.set("time_range", ranges[freshness]);
    const answer = await askService(guard, {
      service: "SearXNG",
      url: `${root.replace(/\/+$/, "")}/search?${parameters.toString()}`,
      root,
      keyHint: "turn on the JSON format of the instance: search.formats in its settings.yml",
      headers: { accept: "application/json" },
      timeoutMs,
      signal,
    });
    const results = Array.isArray(answer["results"]) ? answer["results"] : [];
    return {
      results: results
        .filter(isRecord)
        .map((result) => ({
          title: withoutMarkup(textOf(result["title"])),
          url: textOf(result["url"]),
          snippet: withoutMarkup(textOf(result["content"])),
          published: textOf(result["publishedDate"]) || undefined,
        }))
        .filter(({ url }) => isWebUrl(url))
        .slice(0, count),
    };
  },
};
