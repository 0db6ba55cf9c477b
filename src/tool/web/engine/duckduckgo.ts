// DuckDuckGo's page for browsers without JavaScript: no key, but it may refuse programs that ask often.
import { ToolError } from "../../../core/error.ts";
import { askBytes } from "../service.ts";
import { isWebUrl, type Engine, type Freshness } from "./engine.ts";

const ROOT = "https://html.duckduckgo.com";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

export const duckduckgo: Engine = {
  id: "duckduckgo",
  ignores: ["ui_lang"],
  missing: () => undefined,
  settings: ({ config }) => [config.baseUrl ?? ROOT],
  async search({ query, count, country, search_lang, freshness }, { config, guard, extraction, timeoutMs, signal }) {
    const root = config.baseUrl ?? ROOT;
    const form = new URLSearchParams({ q: query });
    if (country !== undefined || search_lang !== undefined) form.set("kl", region(country, search_lang));
    if (freshness !== undefined) form.set("df", span(freshness));
    const url = `${root.replace(/\/+$/, "")}/html/`;
    const bytes = await askBytes(guard, {
      service: "DuckDuckGo",
      url,
      root,
      keyHint: "DuckDuckGo rejects this machine for now; choose another provider: openclaw configure --section web",
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": BROWSER, accept: "text/html" },
      body: form.toString(),
      timeoutMs,
      signal,
    });
    const text = bytes.toString("utf8");
    if (/anomaly-modal|challenge-form/.test(text))
      throw new ToolError("web.quota", "DuckDuckGo asks for a person and returned no results", {
        hint: "search again in some minutes, or choose another provider: openclaw configure --section web",
      });
    const rows = await extraction.rows(
      {
        bytes,
        contentType: "text/html; charset=utf-8",
        url,
        row: ".result:not(.result--ad)",
        fields: { title: ".result__a", url: ".result__a@href", snippet: ".result__snippet" },
        maxRows: 50,
      },
      { signal },
    );
    if (rows.length === 0 && !/no-results|result__a|No results/i.test(text))
      throw new ToolError("web.garbage", "DuckDuckGo returned a page that holds no results", {
        hint: "choose another provider: openclaw configure --section web",
      });
    return {
      results: rows
        .map(({ title = "", url: link = "", snippet = "" }) => ({ title, url: direct(link), snippet }))
        .filter((hit) => hit.title !== "" && isWebUrl(hit.url))
        .slice(0, count),
    };
  },
};

/** `us-en`; without a country any country. */
function region(country = "wt", language = "wt"): string {
  return `${country === "ALL" ? "wt" : country.toLowerCase()}-${language.toLowerCase()}`;
}

function span(freshness: Freshness): string {
  return typeof freshness === "string" ? freshness.slice(1) : `${freshness.from}..${freshness.to}`;
}

/** Links lead through duckduckgo.com/l/?uddg=…; the real address is in there. */
function direct(link: string): string {
  const url = URL.parse(link);
  return url?.pathname === "/l/" ? (url.searchParams.get("uddg") ?? "") : link;
}
