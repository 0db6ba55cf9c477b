// Where pages of one browser may go, and which of them an agent may read.
import type { CDPSession, Page } from "playwright-core";

import { OpenClawError } from "../core/error.ts";
import type { Guard, GuardCheck, GuardProxy } from "../media/guard/guard.ts";
import type { ControlCaller } from "./control.ts";
import { browserError } from "./errors.ts";
import { authorityOf, type OwnerHosts } from "./owner-hosts.ts";
import { Visits, type Place } from "./visits.ts";

export interface PageGuardDeps {
  readonly guard: Guard;
  readonly owners: OwnerHosts;
  /** Absent for browsers that we did not start: they connect by themselves. */
  readonly proxy: GuardProxy | undefined;
}

/** What the guard needs of a tab. */
export interface GuardedTab {
  readonly page: Page;
  readonly cdp: CDPSession;
  /** Console, errors and requests of the pages it showed. */
  readonly events: { clear(): void };
}

export interface Refusal {
  readonly code: string;
  readonly text: string;
  readonly hint?: string | undefined;
}

const KEEP_MS = 5000;
const MAX_KEPT = 200;

export class PageGuard {
  readonly #deps: PageGuardDeps;
  readonly #checks = new Map<string, { readonly until: number; readonly check: Promise<GuardCheck> }>();
  readonly #visits = new WeakMap<Page, Visits>();

  constructor(deps: PageGuardDeps) {
    this.#deps = deps;
  }

  /** From now on every page that the tab shows counts, also one that it leaves again before anybody asks. */
  async watch({ page, cdp }: GuardedTab): Promise<void> {
    this.#visits.set(page, new Visits(page));
    // The proxy sees every request of a browser that we started. In any other one its requests are paused and checked.
    if (this.#deps.proxy !== undefined) return;
    cdp.on("Fetch.requestPaused", ({ requestId, request }) => {
      this.#decide(cdp, requestId, request.url).catch(() => {
        // The page or the browser is gone, and the request with it.
      });
    });
    await cdp.send("Fetch.enable", { patterns: ["http://*", "https://*"].map((urlPattern) => ({ urlPattern })) });
  }

  /** Before a page is loaded. The owner may name private hosts; they stay open to that tab only. */
  async requireTarget(url: string, who: ControlCaller["who"], page: Page): Promise<void> {
    if (url === "about:blank") return;
    const { guard, owners } = this.#deps;
    const parsed = URL.parse(url);
    if (parsed === null)
      throw browserError("browser.blocked", "this is not a valid URL", {
        hint: "give an absolute URL such as https://example.com",
      });
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
      throw browserError(
        "browser.blocked",
        `${parsed.protocol} URLs are blocked: only http, https and about:blank open`,
      );
    const check = await guard.check(url);
    if (check.allowed || check.code === "guard.dns") return;
    if (who === "agent" || check.code === "guard.metadata") throw blocked(check.reason, check.hint);
    owners.add(url, page);
  }

  /** For `requireReadable`: what the tab showed before this moment does not count. */
  mark(page: Page): number {
    return this.#visits.get(page)?.count ?? 0;
  }

  /**
   * Throws `browser.blocked` when an agent may not read or act on what the tab shows, or showed since `mark`. Without a
   * mark, records of blocked pages that the tab has left are deleted.
   */
  async requireReadable(tab: GuardedTab, mark?: number): Promise<void> {
    const visits = this.#visits.get(tab.page) ?? new Visits(tab.page);
    const shown = visits.shown();
    for (const place of mark === undefined ? shown : [...shown, ...visits.since(mark)]) {
      const reason = await this.#refusalOf(place);
      if (reason !== undefined) throw blocked(reason.text, reason.hint);
    }
    if (mark !== undefined) return;
    for (const place of visits.takeUnchecked())
      if ((await this.#refusalOf(place)) !== undefined) return tab.events.clear();
  }

  async isReadable(tab: GuardedTab): Promise<boolean> {
    try {
      await this.requireReadable(tab);
      return true;
    } catch (error) {
      if (error instanceof OpenClawError && error.code === "browser.blocked") return false;
      throw error;
    }
  }

  /** Why the last request to the host of this URL did not reach it; undefined when nothing is known against it. */
  async refusal(url: string): Promise<Refusal | undefined> {
    const { proxy, guard } = this.#deps;
    const authority = authorityOf(url);
    if (authority === undefined) return undefined;
    const error = proxy?.refusal(authority);
    if (error !== undefined) return { code: error.code, text: error.message, hint: error.hint };
    const check = proxy === undefined ? await guard.check(url) : undefined;
    return check === undefined || check.allowed
      ? undefined
      : { code: check.code ?? "", text: check.reason, hint: check.hint };
  }

  async #refusalOf({ origin, scheme, isMain }: Place): Promise<Omit<Refusal, "code"> | undefined> {
    if (origin === undefined) {
      const isHarmless = harmless.has(scheme) || (!isMain && !local.has(scheme));
      return isHarmless ? undefined : { text: `${scheme} pages are closed to agents` };
    }
    const { allowed, code, reason, hint } = await this.#check(origin);
    // The proxy resolved the name when the page was loaded.
    if (allowed || (code === "guard.dns" && this.#deps.proxy !== undefined)) return undefined;
    return { text: reason, hint };
  }

  async #decide(cdp: CDPSession, requestId: string, url: string): Promise<void> {
    const { origin } = URL.parse(url) ?? { origin: "null" };
    const isAllowed =
      this.#deps.owners.has(authorityOf(url) ?? "") || (origin !== "null" && (await this.#check(origin)).allowed);
    if (isAllowed) await cdp.send("Fetch.continueRequest", { requestId });
    else await cdp.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
  }

  #check(origin: string): Promise<GuardCheck> {
    const now = performance.now();
    const known = this.#checks.get(origin);
    if (known !== undefined && known.until > now) return known.check;
    if (this.#checks.size >= MAX_KEPT) this.#checks.clear();
    const check = this.#deps.guard.check(origin);
    this.#checks.set(origin, { until: now + KEEP_MS, check });
    return check;
  }
}

/** Pages without content of a server or of this machine. */
const harmless: ReadonlySet<string> = new Set(["", "about:", "chrome-error:"]);
/** Not even as a frame: they show files and settings of this machine. */
const local: ReadonlySet<string> = new Set(["file:", "chrome:", "devtools:", "view-source:"]);

export function blocked(reason: string, hint?: string): Error {
  const text = reason.startsWith("blocked") ? reason : `blocked: ${reason}`;
  return browserError("browser.blocked", `page ${text}`, hint === undefined ? {} : { hint });
}
