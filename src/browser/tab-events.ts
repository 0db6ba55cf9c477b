// What happened on one tab, in bounded buffers: console, errors, requests, dialogs, downloads and new tabs.
import { setTimeout as delay } from "node:timers/promises";

import type { Dialog, Download, FileChooser, Page, Request } from "playwright-core";

import { plain } from "./snapshot/text.ts";
import type { UploadFile } from "./upload-files.ts";

export interface ConsoleEntry {
  readonly type: string;
  readonly text: string;
  readonly timestamp: string;
  readonly location?: { readonly url: string; readonly lineNumber: number; readonly columnNumber: number };
}

export interface ErrorEntry {
  readonly message: string;
  readonly name?: string;
  readonly stack?: string;
  readonly timestamp: string;
}

export interface RequestEntry {
  readonly id: string;
  readonly timestamp: string;
  readonly method: string;
  readonly url: string;
  readonly resourceType: string;
  status?: number;
  ok?: boolean;
  failureText?: string;
}

interface DialogArm {
  readonly accept: boolean;
  readonly promptText?: string | undefined;
  readonly expires: number;
}

interface FilesArm {
  readonly settle: (isChosen: boolean) => void;
}

const MAX_CONSOLE = 500;
const MAX_ERRORS = 200;
const MAX_REQUESTS = 500;
const MAX_NOTES = 20;
const MAX_TEXT = 4000;
const POLL_MS = 10;
const changing = new Set(["document", "xhr", "fetch"]);

export class TabEvents {
  readonly console: ConsoleEntry[] = [];
  readonly errors: ErrorEntry[] = [];
  readonly requests: RequestEntry[] = [];
  /** For the next answer with changes: dialogs, downloads, new tabs. */
  #notes: string[] = [];
  #dialogArm: DialogArm | undefined;
  #filesArm: FilesArm | undefined;
  #requestCount = 0;
  readonly #open = new WeakMap<Request, RequestEntry>();
  /** Requests whose answer is likely to change the page. */
  readonly #pending = new Set<Request>();
  readonly #page: Page;
  /** Takes a download that no call waits for. */
  onDownload: ((download: Download) => void) | undefined;

  constructor(page: Page) {
    this.#page = page;
    page.on("console", (message) => {
      const location = message.location();
      push(this.console, MAX_CONSOLE, {
        type: message.type(),
        text: message.text().slice(0, MAX_TEXT),
        timestamp: now(),
        location: { url: location.url, lineNumber: location.lineNumber, columnNumber: location.columnNumber },
      });
    });
    page.on("pageerror", (error) => {
      const { name, message, stack } = error;
      push(this.errors, MAX_ERRORS, {
        message: message.slice(0, MAX_TEXT),
        name,
        ...(stack === undefined ? {} : { stack: stack.slice(0, MAX_TEXT) }),
        timestamp: now(),
      });
    });
    this.#watchRequests(page);
    page.on("dialog", (dialog) => void this.#answer(dialog));
    page.on("popup", (popup) => this.note(`a new tab opened: ${popup.url().slice(0, 300)}; action=tabs lists it`));
    page.on("download", (download) => this.onDownload?.(download));
  }

  #watchRequests(page: Page): void {
    page.on("request", (request) => {
      const entry: RequestEntry = {
        id: `r${++this.#requestCount}`,
        timestamp: now(),
        method: request.method(),
        url: request.url().slice(0, MAX_TEXT),
        resourceType: request.resourceType(),
      };
      this.#open.set(request, entry);
      push(this.requests, MAX_REQUESTS, entry);
      if (changing.has(entry.resourceType)) this.#pending.add(request);
    });
    page.on("requestfinished", (request) => this.#pending.delete(request));
    page.on("response", (response) => {
      const entry = this.#open.get(response.request());
      if (entry === undefined) return;
      entry.status = response.status();
      entry.ok = response.ok();
    });
    page.on("requestfailed", (request) => {
      this.#pending.delete(request);
      const entry = this.#open.get(request);
      if (entry === undefined) return;
      entry.ok = false;
      entry.failureText = request.failure()?.errorText ?? "failed";
    });
  }

  get isLoading(): boolean {
    return this.#pending.size > 0;
  }

  /** Until the page has left for where it is going, if it is; a page that loads slowly is not waited for longer. */
  async untilNavigated(ms: number): Promise<void> {
    const main = this.#page.mainFrame();
    const isLeaving = (): boolean =>
      [...this.#pending].some(
        (one) => one.isNavigationRequest() && one.frame() === main && this.#open.get(one)?.status === undefined,
      );
    const end = performance.now() + ms;
    while (isLeaving() && !this.#page.isClosed() && performance.now() < end) await delay(POLL_MS);
  }

  clear(): void {
    for (const list of [this.console, this.errors, this.requests, this.#notes]) list.length = 0;
  }

  note(text: string): void {
    push(this.#notes, MAX_NOTES, text);
  }

  takeNotes(): string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** For the next dialog only; replaces an earlier one. */
  armDialog(accept: boolean, promptText: string | undefined, ms: number): void {
    this.#dialogArm = { accept, promptText, expires: Date.now() + ms };
  }

  /** An unanswered dialog would block the page, so every one is answered at once. */
  async #answer(dialog: Dialog): Promise<void> {
    const arm = this.#dialogArm;
    this.#dialogArm = undefined;
    const isArmed = arm !== undefined && arm.expires > Date.now();
    const accepts = isArmed ? arm.accept : dialog.type() === "beforeunload";
    const text = `${dialog.type()} dialog ${accepts ? "accepted" : "dismissed"}${isArmed ? "" : " (not armed)"}: ${dialog.message().slice(0, 500)}`;
    push(this.console, MAX_CONSOLE, { type: "dialog", text, timestamp: now() });
    this.note(text);
    try {
      await (accepts ? dialog.accept(isArmed ? arm.promptText : undefined) : dialog.dismiss());
    } catch (error) {
      // The page may close the dialog or itself first.
      this.note(`the dialog was gone before it was answered: ${String(error).split("\n", 1)[0]}`);
    }
  }

  /** For the next file chooser only; replaces an earlier one. Resolves to false when none opened in time. */
  armFiles(files: readonly UploadFile[], ms: number): Promise<boolean> {
    this.#filesArm?.settle(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // The listener makes Chromium hand the chooser to us instead of showing it.
    const choose = (chooser: FileChooser): void => void this.#choose(chooser, files);
    const settle = (isChosen: boolean): void => {
      clearTimeout(timer);
      this.#page.off("filechooser", choose);
      this.#filesArm = undefined;
      resolve(isChosen);
    };
    const timer = setTimeout(() => settle(false), ms).unref();
    this.#filesArm = { settle };
    this.#page.on("filechooser", choose);
    return promise;
  }

  async #choose(chooser: FileChooser, files: readonly UploadFile[]): Promise<void> {
    const arm = this.#filesArm;
    try {
      await chooser.setFiles([...files]);
      this.note(`uploaded ${files.length} file(s)`);
    } catch (error) {
      this.note(`the upload failed: ${plain(String(error), 200)}`);
    }
    arm?.settle(true);
  }
}

function push<T>(list: T[], max: number, entry: T): void {
  list.push(entry);
  if (list.length > max) list.splice(0, list.length - max);
}

function now(): string {
  return new Date().toISOString();
}
