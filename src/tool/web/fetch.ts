// The web_fetch tool: one page as readable Markdown or text, through the guard and marked as untrusted.
import { OpenClawError, ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";
import { createTimedCache } from "../../media/guard/cache.ts";
import type { GuardedResponse } from "../../media/guard/guard.ts";
import { isGuardError } from "../../media/guard/reasons.ts";
import { sniff } from "../../media/sniff.ts";
import { defineTool, nonBlank, type ToolCall } from "../tool.ts";
import { webAvailable } from "./availability.ts";
import type { WebDeps } from "./deps.ts";
import { firecrawlKey, scrape } from "./firecrawl.ts";

const MAX_DOWNLOAD_BYTES = 5_000_000;
const MAX_PDF_PAGES = 200;
const MAX_CHARS = 50_000;
const EXCERPT_CHARS = 500;
/** Sites send pages without content to programs they do not know. */
const BROWSER =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36";

export const createWebFetch = (deps: WebDeps) => {
  const cache = createTimedCache<Page>(deps.clock);
  return defineTool({
    name: "web_fetch",
    summary: "Read a web page",
    description:
      "Fetch a public URL and return its readable content: HTML as Markdown, JSON, feeds, text, PDF. No JavaScript runs; for sites that need it use the browser tool.",
    verbatim: true,
    params: Type.Object(
      {
        url: nonBlank("The http or https URL to fetch."),
        extractMode: Type.Optional(
          Type.Enum(["markdown", "text"], { type: "string", description: "Format of the content (default markdown)." }),
        ),
        maxChars: Type.Optional(
          Type.Integer({ minimum: 100, description: "Characters to return at most (default and cap: as configured)." }),
        ),
      },
      { additionalProperties: false },
    ),
    available: (env) => webAvailable("fetch", env),
    intent: ({ url }) => ({ does: "fetch", url }),
    async run({ url, extractMode = "markdown", maxChars }, call) {
      const started = deps.clock.ticks();
      const settings = fetchSettings(call);
      const wanted: Wanted = { url: url.trim(), mode: extractMode, chars: charsFor(maxChars, settings) };
      const key = JSON.stringify([
        withoutFragment(wanted.url),
        extractMode,
        wanted.chars,
        settings.readability,
        // A host that is no longer allowed is asked about again.
        call.config.tools?.web?.allowPrivateHosts,
      ]);
      const cached = cache.get(key);
      const page = cached ?? (await readPage(wanted, settings, call, deps));
      if (cached === undefined) cache.set(key, page, settings.cacheTtlMinutes * 60_000, page.text.length);
      return show(page, wanted, deps.clock.ticks() - started, cached !== undefined);
    },
  });
};

interface Wanted {
  readonly url: string;
  readonly mode: "markdown" | "text";
  readonly chars: number;
}

interface Page {
  readonly finalUrl: string;
  readonly status: number;
  readonly contentType?: string | undefined;
  readonly title?: string | undefined;
  readonly extractor: string;
  readonly text: string;
  readonly truncated: boolean;
  /** Characters of the whole content. */
  readonly rawLength: number;
  readonly fetchedAt: string;
  readonly warning?: string | undefined;
}

type Settings = ReturnType<typeof fetchSettings>;

function fetchSettings({ config }: ToolCall) {
  const web = config.tools?.web?.fetch ?? {};
  return {
    maxChars: web.maxChars ?? MAX_CHARS,
    maxCharsCap: web.maxCharsCap ?? MAX_CHARS,
    timeoutMs: (web.timeoutSeconds ?? 30) * 1000,
    cacheTtlMinutes: web.cacheTtlMinutes ?? 15,
    maxRedirects: web.maxRedirects ?? 3,
    userAgent: web.userAgent ?? BROWSER,
    readability: web.readability ?? true,
    firecrawl: web.firecrawl,
  };
}

function charsFor(wanted: number | undefined, { maxChars, maxCharsCap }: Settings): number {
  return Math.max(100, Math.min(wanted ?? maxChars, maxCharsCap));
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}

/** The page itself; where that cannot be read, Firecrawl's copy of it. What the guard refuses is never passed on. */
async function readPage(wanted: Wanted, settings: Settings, call: ToolCall, deps: WebDeps): Promise<Page> {
  try {
    return await readDirectly(wanted, settings, call, deps);
  } catch (error) {
    const key = firecrawlKey(settings.firecrawl, deps.serviceEnv());
    if (key === undefined || !isWorthAnotherTry(error)) throw error;
    const copy = await scrape(wanted.url, key, settings.firecrawl, deps.guard, call.signal);
    if (copy.markdown.trim() === "") throw error;
    return fromFirecrawl(copy, wanted, deps);
  }
}

function isWorthAnotherTry(error: unknown): boolean {
  if (isGuardError(error)) return error.details === undefined || !("refused" in (error.details as object));
  return error instanceof ToolError && error.code.startsWith("web.");
}

async function readDirectly(wanted: Wanted, settings: Settings, call: ToolCall, deps: WebDeps): Promise<Page> {
  const { timeoutMs, maxRedirects, userAgent } = settings;
  const response = await deps.guard.fetch(wanted.url, {
    timeoutMs,
    maxRedirects,
    maxBytes: MAX_DOWNLOAD_BYTES,
    signal: call.signal,
    headers: {
      "user-agent": userAgent,
      accept: "text/html,application/xhtml+xml,application/json;q=0.9,text/plain;q=0.9,*/*;q=0.8",
      "accept-language": "en-US,en;q=0.9",
    },
  });
  const { bytes, isCut } = await response.head();
  if (response.status < 200 || response.status > 299) throw statusError(response, bytes);
  const page = await extract(bytes, isCut, response, wanted, settings, call, deps);
  return {
    finalUrl: response.url,
    status: response.status,
    contentType: response.mimeType,
    fetchedAt: new Date(deps.clock.now()).toISOString(),
    ...page,
    truncated: page.truncated || isCut,
    ...(isCut ? { warning: `only the first ${MAX_DOWNLOAD_BYTES} bytes were read` } : {}),
  };
}

type Content = Pick<Page, "title" | "extractor" | "text" | "truncated" | "rawLength">;

/** The bytes decide what it is; the stated type only tells kinds of text apart. */
async function extract(
  bytes: Buffer,
  isCut: boolean,
  { headers, url, mimeType = "" }: GuardedResponse,
  { mode, chars }: Wanted,
  { readability }: Settings,
  { signal }: ToolCall,
  { extraction }: WebDeps,
): Promise<Content> {
  const kind = sniff(bytes);
  const isPdf = bytes.subarray(0, 5).toString("latin1") === "%PDF-";
  if (!isPdf && kind.kind !== "text" && !(kind.kind === "binary" && kind.type === "UTF-16 text"))
    throw unreadable(kind.kind === "image" ? kind.mimeType : kind.type, kind.kind === "image");
  if (isPdf && isCut) throw new ToolError("web.too-large", `the PDF is larger than ${MAX_DOWNLOAD_BYTES} bytes`);
  const contentType = headers["content-type"] ?? mimeType;
  const job = isPdf
    ? extraction.pdf({ bytes, maxPages: MAX_PDF_PAGES, maxChars: chars }, { signal })
    : extraction.page({ bytes, contentType, url, mode, readability, maxChars: chars }, { signal });
  const read = await job.catch((error: unknown) => {
    if (error instanceof OpenClawError && error.code.startsWith("extract."))
      throw new ToolError("web.unreadable", error.message, {
        hint: "for sites that need JavaScript use the browser tool",
      });
    throw error;
  });
  if (isPdf && read.text === "") throw new ToolError("web.unreadable", "the PDF has no text; its pages are pictures");
  return {
    title: read.title,
    extractor: read.extractor,
    text: read.text,
    truncated: read.isCut,
    rawLength: read.length,
  };
}

function unreadable(type: string, isImage: boolean): ToolError {
  return new ToolError("web.not-text", `the URL is a file and not a page: ${type}`, {
    hint: isImage ? "use the image tool with this URL" : "use the browser tool, or download it with exec",
  });
}

function statusError({ status, url, mimeType = "" }: GuardedResponse, bytes: Buffer): ToolError {
  const isText = /text|json|xml/.test(mimeType) && !mimeType.includes("html");
  const excerpt = isText ? bytes.toString("utf8", 0, EXCERPT_CHARS).trim() : "";
  const quoted = excerpt === "" ? "" : `:\n${wrapUntrusted(excerpt, `web page ${hostIn(url)}`)}`;
  return new ToolError("web.http-status", `the server answered ${status}${quoted}`, {
    ...(status === 401 || status === 403 || status === 429
      ? { hint: "the site rejects programs or needs a login; try the browser tool" }
      : {}),
    details: { status },
  });
}

async function fromFirecrawl(
  { markdown, title, url, status, warning }: Awaited<ReturnType<typeof scrape>>,
  { mode, chars }: Wanted,
  { clock }: WebDeps,
): Promise<Page> {
  const text = mode === "text" ? plainText(markdown) : markdown;
  return {
    finalUrl: url,
    status,
    title,
    extractor: "firecrawl",
    text: text.slice(0, chars).toWellFormed(),
    truncated: text.length > chars,
    rawLength: text.length,
    fetchedAt: new Date(clock.now()).toISOString(),
    warning,
  };
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^#{1,6}\s+/gm, "")
    .replaceAll(/(\*\*|__|`)/g, "")
    .replaceAll(/^>\s?/gm, "")
    .trim();
}

/** The model reads the facts, then the content between marks; programs get the same as fields. */
function show(page: Page, { url, mode }: Wanted, tookMs: number, isCached: boolean) {
  const { title, text, truncated, rawLength, contentType } = page;
  // Outside of the marks, and chosen by the server.
  const finalUrl = neutralize(page.finalUrl);
  const wrapped = wrapUntrusted(
    title === undefined ? text : `Title: ${title}\n\n${text}`,
    `web page ${hostIn(finalUrl)}`,
  );
  const details = {
    url,
    ...page,
    finalUrl,
    ...(contentType === undefined ? {} : { contentType: neutralize(contentType) }),
    ...(title === undefined ? {} : { title: neutralize(title) }),
    ...(page.warning === undefined ? {} : { warning: neutralize(page.warning) }),
    extractMode: mode,
    length: text.length,
    tookMs: Math.round(tookMs),
    ...(isCached ? { cached: true as const } : {}),
    text: wrapped,
  };
  const facts = [
    `URL: ${finalUrl}`,
    ...(truncated ? [`Cut: the first ${text.length} of ${rawLength} characters. A larger maxChars returns more.`] : []),
  ];
  return { content: [{ type: "text" as const, text: `${facts.join("\n")}\n${wrapped}` }], details };
}

function hostIn(url: string): string {
  return URL.parse(url)?.host ?? "";
}
