// One tab: its page, its references and what happened on it.
import type { CDPSession, Locator, Page } from "playwright-core";

import { untilAborted } from "../base/abort.ts";
import { createLanes } from "../base/lane.ts";
import { browserError } from "./errors.ts";
import { numberOfRef, References } from "./references.ts";
import { locateGraphic, type Graphics } from "./snapshot/graphics.ts";
import { plain } from "./snapshot/text.ts";
import { renderTree, type Line } from "./snapshot/render.ts";
import { readTree, type ReadOptions } from "./snapshot/tree.ts";
import { TabEvents } from "./tab-events.ts";

export class Tab {
  readonly page: Page;
  readonly targetId: string;
  readonly cdp: CDPSession;
  readonly references = new References();
  readonly events: TabEvents;
  /** The page as the model knows it; changes are told against this. */
  seen: readonly Line[] | undefined;
  /** Of the last snapshot that asked for them. */
  graphics: Graphics | undefined;
  readonly #lane = createLanes();

  private constructor(page: Page, targetId: string, cdp: CDPSession) {
    this.page = page;
    this.targetId = targetId;
    this.cdp = cdp;
    this.events = new TabEvents(page);
    // A new document; Playwright's own event also fires when a page only changes its address.
    cdp.on("Page.frameNavigated", ({ frame }) => {
      if (frame.parentId !== undefined) return;
      this.references.clear();
      this.seen = undefined;
      this.graphics = undefined;
    });
  }

  static async open(page: Page): Promise<Tab> {
    const cdp = await page.context().newCDPSession(page);
    const [{ targetInfo }] = await Promise.all([cdp.send("Target.getTargetInfo"), cdp.send("Page.enable")]);
    return new Tab(page, targetInfo.targetId, cdp);
  }

  /** Calls on one tab run one after another; one that is given up does not block the next. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#lane.run("", () => untilAborted(work(), signal), signal);
  }

  /** Ends a script of the page that does not return, so that the page answers again. */
  interrupt(): void {
    // A page that is closed by now needs no end.
    this.cdp.send("Runtime.terminateExecution").catch(() => undefined);
  }

  /** Reads the page and numbers its elements. */
  async look(options: ReadOptions): Promise<readonly Line[]> {
    const tree = await readTree(this.page, options);
    this.references.update(tree);
    return renderTree(tree, this.references, { style: "ai" });
  }

  isGraphic(ref: string | number): boolean {
    const number = numberOfRef(ref);
    const { first = 0, lines = [] } = this.graphics ?? {};
    return number !== undefined && number >= first && number < first + lines.length;
  }

  async #locateGraphic(ref: string | number): Promise<Locator> {
    const number = numberOfRef(ref);
    const found =
      number === undefined || this.graphics === undefined
        ? undefined
        : await locateGraphic(this.page, this.graphics, number);
    if (found === undefined) throw unknownRef(ref, this.references.wasGiven(ref));
    return found;
  }

  /** Fails at once when the element is gone; finds it again when the page rendered it again. */
  async locate(ref: string | number, options: ReadOptions): Promise<Locator> {
    const known = this.references.find(ref);
    if (known === undefined) return this.#locateGraphic(ref);
    const locator = this.page.locator(`aria-ref=${known.native}`);
    if ((await locator.count()) > 0) return locator;
    await this.look(options);
    const again = this.references.find(ref);
    if (again === undefined || again.native === known.native) throw unknownRef(ref, true);
    return this.page.locator(`aria-ref=${again.native}`);
  }
}

function unknownRef(ref: string | number, wasGiven: boolean): Error {
  const shown = plain(String(ref), 60);
  return wasGiven
    ? browserError(
        "browser.stale-ref",
        `ref ${shown} is gone: the page removed the element or navigated. Take a new snapshot.`,
      )
    : browserError("browser.unknown-ref", `Unknown ref "${shown}". Take a new snapshot and use a ref from it.`);
}
