// Loads a URL in a tab: checked before, and explained when it fails.
import type { Page, Request, Response } from "playwright-core";

import { OpenClawError } from "../core/error.ts";
import { browserError } from "./errors.ts";
import { GUARD_HEADER } from "../media/guard/proxy.ts";
import { isRefusal } from "../media/guard/reasons.ts";
import { blocked, type Refusal } from "./page-guard.ts";
import type { RouteCall } from "./route.ts";
import { plain } from "./snapshot/text.ts";
import type { Tab } from "./tab.ts";

const DOWNLOAD = /Download is starting/;
const ERROR_PAGE = /net::ERR_(?!ABORTED)/;
const ERROR_PAGE_MS = 1000;

/** Resolves when the page can be read. Throws `browser.blocked`, `browser.timeout` or `browser.failed`. */
export async function loadPage(tab: Tab, url: string, call: RouteCall): Promise<void> {
  const { pages } = await call.connection();
  await pages.requireTarget(url, call.caller.who, tab.page);
  const ms = call.timeoutMs;
  let last = url;
  // A redirect leads to another host.
  const follow = (request: Request): void => void (request.isNavigationRequest() && (last = request.url()));
  tab.page.on("request", follow);
  let response: Response | null;
  try {
    response = await tab.page.goto(url, { timeout: ms, waitUntil: "domcontentloaded" });
  } catch (error) {
    if (error instanceof Error && ERROR_PAGE.test(error.message)) await untilErrorPage(tab.page);
    throw loadFailure(tab, url, ms, error, await pages.refusal(last));
  } finally {
    tab.page.off("request", follow);
  }
  const isGuard = response?.headers()[GUARD_HEADER] !== undefined;
  const refused = isGuard ? await pages.refusal(response?.url() ?? url) : undefined;
  if (refused !== undefined) throw refusalError(hostIn(url), refused);
}

/** It comes after the failure, and would interrupt the next load. */
async function untilErrorPage(page: Page): Promise<void> {
  try {
    await page.waitForURL(/^chrome-error:/, { timeout: ERROR_PAGE_MS, waitUntil: "commit" });
  } catch (error) {
    if (!(error instanceof Error && (error.name === "TimeoutError" || page.isClosed()))) throw error;
  }
}

function refusalError(host: string, { code, text, hint }: Refusal): Error {
  return isRefusal(code) ? blocked(text, hint) : browserError("browser.failed", `${host} could not be loaded: ${text}`);
}

function loadFailure(tab: Tab, url: string, ms: number, error: unknown, refused: Refusal | undefined): unknown {
  if (!(error instanceof Error) || error instanceof OpenClawError) return error;
  const { message } = error;
  if (refused !== undefined && /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY|ERR_BLOCKED/.test(message))
    return refusalError(hostIn(url), refused);
  const host = hostIn(url);
  if (error.name === "TimeoutError")
    return browserError("browser.timeout", `${host} did not load within ${ms} ms; its tab stays open`, {
      hint: `take a snapshot to see what has loaded (targetId ${tab.targetId})`,
      cause: error,
    });
  if (DOWNLOAD.test(message))
    return browserError("browser.failed", `${host} sent a file to download instead of a page`, { cause: error });
  const [, code = ""] = /net::(ERR_[A-Z0-9_]+)/.exec(message) ?? [];
  const reason = netErrors[code] ?? (code === "" ? plain(message.split("\n", 1)[0] ?? "", 200) : code);
  return browserError("browser.failed", `${host} could not be loaded: ${reason}`, { cause: error });
}

/** True when the URL sent a file, which is saved in the background. */
export function isDownload(error: unknown): boolean {
  return error instanceof OpenClawError && error.cause instanceof Error && DOWNLOAD.test(error.cause.message);
}

const hostIn = (url: string): string => plain(URL.parse(url)?.host ?? url, 200);

const netErrors: Readonly<Record<string, string>> = {
  ERR_NAME_NOT_RESOLVED: "the host name does not exist",
  ERR_CONNECTION_REFUSED: "the server refused the connection",
  ERR_CONNECTION_RESET: "the server closed the connection",
  ERR_EMPTY_RESPONSE: "the server sent no answer",
  ERR_TUNNEL_CONNECTION_FAILED: "the server could not be reached",
  ERR_CERT_AUTHORITY_INVALID: "its certificate is not trusted",
  ERR_CERT_DATE_INVALID: "its certificate has expired",
  ERR_CERT_COMMON_NAME_INVALID: "its certificate belongs to another host",
  ERR_TOO_MANY_REDIRECTS: "it redirects without end",
  ERR_ABORTED: "the load was aborted, as by a download or an empty answer",
};
