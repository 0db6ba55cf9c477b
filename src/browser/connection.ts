// A connection to one browser over CDP: its tabs, found by target id.
import type { Browser, BrowserContext, Page } from "playwright-core";

import type { Downloads } from "./downloads.ts";
import type { Endpoint } from "./endpoint.ts";
import { browserError } from "./errors.ts";
import type { PageGuard } from "./page-guard.ts";
import { maskUrl, type Profile } from "./profiles.ts";
import { Tab } from "./tab.ts";

export interface ConnectionOptions {
  readonly profile: Profile;
  readonly endpoint: Endpoint;
  readonly pages: PageGuard;
  readonly downloads: Downloads;
  readonly timeoutMs: number;
  /** The browser ended or the connection broke. */
  readonly onLost?: () => void;
}

const ATTACH_MS = 3000;

export class BrowserConnection {
  readonly profile: Profile;
  readonly pages: PageGuard;
  readonly downloads: Downloads;
  readonly #browser: Browser;
  readonly #tabs = new Map<Page, Promise<Tab>>();
  readonly #crashed = new WeakSet<Page>();
  /** The tab that was used last. */
  #current: Tab | undefined;

  private constructor({ profile, pages, downloads, onLost }: ConnectionOptions, browser: Browser) {
    this.profile = profile;
    this.pages = pages;
    this.downloads = downloads;
    this.#browser = browser;
    browser.once("disconnected", () => onLost?.());
    this.#context.on("page", (page) => {
      // A page may be closed before its tab is set up; #tabOf forgets it then.
      this.#tabOf(page).catch(() => this.#tabs.delete(page));
    });
  }

  static async open(options: ConnectionOptions): Promise<BrowserConnection> {
    const { profile, endpoint, timeoutMs } = options;
    const { chromium } = await import("playwright-core");
    try {
      const { url, headers } = endpoint;
      const browser = url.startsWith("ws+unix:")
        ? await chromium.connectOverCDP(await (await import("./sandbox/transport.ts")).openTransport(url, timeoutMs), {
            timeout: timeoutMs,
          })
        : await chromium.connectOverCDP(url, { timeout: timeoutMs, headers });
      return new BrowserConnection(options, browser);
    } catch (error) {
      // Playwright's message contains the URL with its credentials.
      const reason = error instanceof Error && /timeout/i.test(error.message) ? "in time" : "as a browser does";
      throw browserError(
        "browser.not-reachable",
        `the browser of profile "${profile.name}" at ${maskUrl(profile.cdpUrl)} did not answer ${reason}`,
        { hint: profile.kind === "managed" ? "openclaw browser reset-profile" : "check that this browser runs" },
      );
    }
  }

  get isConnected(): boolean {
    return this.#browser.isConnected();
  }

  get #context(): BrowserContext {
    const [context] = this.#browser.contexts();
    if (context === undefined) throw browserError("browser.gone", "the browser has no window");
    return context;
  }

  async tabs(): Promise<readonly Tab[]> {
    const opened = await Promise.allSettled(this.#context.pages().map((page) => this.#tabOf(page)));
    return opened.flatMap((one) => (one.status === "fulfilled" && !one.value.page.isClosed() ? [one.value] : []));
  }

  async newTab(): Promise<Tab> {
    const tab = await this.#tabOf(await this.#context.newPage());
    this.#current = tab;
    return tab;
  }

  /** By target id or a unique prefix of one; without an id the tab that was used last. */
  async tab(targetId?: string): Promise<Tab> {
    if (this.profile.kind === "relay") await this.#untilPage();
    const tabs = await this.tabs();
    // The user's browser gives a tab a new id at times; with one attached tab there is no doubt which one is meant.
    const only = this.profile.kind === "relay" && tabs.length === 1;
    const found = targetId === undefined || only ? this.#lastUsed(tabs) : requireTab(tabs, targetId);
    this.#current = found;
    return found;
  }

  /** A crashed page answers no request: closes it and throws. */
  async requireAlive(tab: Tab): Promise<void> {
    if (!this.#crashed.has(tab.page)) return;
    await tab.page.close();
    throw browserError("browser.crashed", "the page crashed, and its tab was closed", {
      hint: "open it again with action=open",
    });
  }

  hasCrashed(page: Page): boolean {
    return this.#crashed.has(page);
  }

  /** The relay knows a tab that the user attached a moment before the page is here. */
  async #untilPage(): Promise<void> {
    if (this.#context.pages().length > 0) return;
    try {
      await this.#context.waitForEvent("page", { timeout: ATTACH_MS });
    } catch (error) {
      if (!(error instanceof Error && error.name === "TimeoutError")) throw error;
    }
  }

  #lastUsed(tabs: readonly Tab[]): Tab {
    const found = tabs.find((tab) => tab === this.#current) ?? tabs.at(-1);
    if (found === undefined)
      throw browserError("browser.no-tab", "no tab is open", { hint: "open one with action=open and targetUrl" });
    return found;
  }

  #tabOf(page: Page): Promise<Tab> {
    const known = this.#tabs.get(page);
    if (known !== undefined) return known;
    const opened = Tab.open(page).then(async (tab) => {
      this.downloads.watch(tab);
      await this.pages.watch(tab);
      return tab;
    });
    this.#tabs.set(page, opened);
    opened.catch(() => this.#tabs.delete(page));
    page.once("close", () => this.#tabs.delete(page));
    page.once("crash", () => this.#crashed.add(page));
    return opened;
  }

  /** Leaves the browser running. */
  async close(): Promise<void> {
    await this.#browser.close();
  }
}

function requireTab(tabs: readonly Tab[], targetId: string): Tab {
  const exact = tabs.find((tab) => tab.targetId === targetId);
  const matches = tabs.filter((tab) => tab.targetId.toLowerCase().startsWith(targetId.toLowerCase()));
  if (exact !== undefined) return exact;
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  if (matches.length === 0)
    throw browserError("browser.tab-not-found", `tab not found: ${targetId}`, {
      hint: "action=tabs lists the open tabs",
    });
  throw browserError("browser.ambiguous-tab", `${matches.length} tabs start with ${targetId}; give more characters`);
}
