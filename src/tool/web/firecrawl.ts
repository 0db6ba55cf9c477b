// Firecrawl: a service that renders pages which the plain request could not read.
import { isRecord } from "../../core/record.ts";
import type { Env } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import type { WebDeps } from "./deps.ts";
import { isWebUrl, textOf } from "./engine/engine.ts";
import { askService } from "./service.ts";

type FirecrawlConfig = NonNullable<NonNullable<NonNullable<NonNullable<Config["tools"]>["web"]>["fetch"]>["firecrawl"]>;

export interface FirecrawlPage {
  readonly markdown: string;
  readonly title?: string | undefined;
  readonly url: string;
  readonly status: number;
  readonly warning?: string | undefined;
}

/** The key, when Firecrawl is in use. */
export function firecrawlKey(config: FirecrawlConfig = {}, env: Env): string | undefined {
  const key = config.apiKey ?? env["FIRECRAWL_API_KEY"];
  return config.enabled === false || key === undefined || key === "" ? undefined : key;
}

export async function scrape(
  url: string,
  key: string,
  config: FirecrawlConfig = {},
  guard: WebDeps["guard"],
  signal: AbortSignal,
): Promise<FirecrawlPage> {
  const {
    baseUrl = "https://api.firecrawl.dev",
    onlyMainContent = true,
    maxAgeMs = 172_800_000,
    timeoutSeconds = 60,
  } = config;
  const answer = await askService(guard, {
    service: "Firecrawl",
    url: `${baseUrl.replace(/\/+$/, "")}/v2/scrape`,
    root: baseUrl,
    keyHint: "openclaw config set tools.web.fetch.firecrawl.apiKey <key>",
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      url,
      formats: ["markdown"],
      onlyMainContent,
      maxAge: maxAgeMs,
      timeout: timeoutSeconds * 1000,
      proxy: "auto",
      storeInCache: true,
    }),
    timeoutMs: timeoutSeconds * 1000,
    signal,
  });
  const data = isRecord(answer["data"]) ? answer["data"] : {};
  const metadata = isRecord(data["metadata"]) ? data["metadata"] : {};
  const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
  return {
    markdown: text(data["markdown"]) ?? "",
    title: text(metadata["title"]),
    url: webUrl(metadata["sourceURL"]) ?? url,
    status: typeof metadata["statusCode"] === "number" ? metadata["statusCode"] : 200,
    warning: text(answer["warning"]) ?? text(data["warning"]),
  };
}

/** Written as the URL parser writes it: the model reads it outside of the marks. */
function webUrl(value: unknown): string | undefined {
  const text = textOf(value);
  return isWebUrl(text) ? new URL(text).href : undefined;
}
