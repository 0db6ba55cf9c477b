// Private hosts that the owner opened in one browser: its proxy lets them through while a tab shows them.
import type { Page } from "playwright-core";

import { authorityOf as authorityOfUrl } from "../media/guard/proxy.ts";

export class OwnerHosts {
  readonly #pages = new Map<string, Set<Page>>();

  has(authority: string): boolean {
    return this.#pages.has(authority);
  }

  /** Until the page is closed or shows another host. */
  add(url: string, page: Page): void {
    const authority = authorityOf(url);
    if (authority === undefined) return;
    const pages = this.#pages.get(authority) ?? new Set<Page>();
    this.#pages.set(authority, pages.add(page));
    page.once("close", () => this.#drop(authority, page));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame() && authorityOf(frame.url()) !== authority) this.#drop(authority, page);
    });
  }

  #drop(authority: string, page: Page): void {
    const pages = this.#pages.get(authority);
    pages?.delete(page);
    if (pages?.size === 0) this.#pages.delete(authority);
  }
}

/** `host:port` as the proxy sees it; undefined for URLs without a host. */
export function authorityOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url === null || (url.protocol !== "http:" && url.protocol !== "https:") ? undefined : authorityOfUrl(url);
}
