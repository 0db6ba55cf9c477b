// Downloads of one browser: saved in the media folder, bounded in size and in number.
import type { Download } from "playwright-core";

import type { MediaStore, StoredMedia } from "../media/store.ts";
import { browserError } from "./errors.ts";
import { plain } from "./snapshot/text.ts";
import type { Tab } from "./tab.ts";

const MAX_BYTES = 100_000_000;
const MAX_AT_ONCE = 4;
const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;

export class Downloads {
  readonly #media: MediaStore;
  readonly #saved = new WeakMap<Download, Promise<StoredMedia>>();
  readonly #open = new Set<Download>();
  /** When the last ones began. */
  #begun: number[] = [];

  constructor(media: MediaStore) {
    this.#media = media;
  }

  watch({ cdp, events }: Tab): void {
    const urls = new Map<string, string>();
    cdp.on("Page.downloadWillBegin", ({ guid, url }) => urls.set(guid, url));
    cdp.on("Page.downloadProgress", ({ guid, receivedBytes, totalBytes, state }) => {
      if (state !== "inProgress") return void urls.delete(guid);
      if (Math.max(receivedBytes, totalBytes) <= MAX_BYTES) return;
      for (const download of this.#open) if (download.url() === urls.get(guid)) cancel(download);
    });
    events.onDownload = (download) => {
      const name = plain(download.suggestedFilename(), 200);
      this.save(download).then(
        ({ path, size }) => events.note(`downloaded "${name}" (${size} bytes): ${path}`),
        (error: unknown) => events.note(`the download of "${name}" failed: ${reasonOf(error)}`),
      );
    };
  }

  /** The same file for every caller. Throws `browser.failed` when it is cancelled, too large or one too many. */
  save(download: Download): Promise<StoredMedia> {
    const known = this.#saved.get(download);
    if (known !== undefined) return known;
    const saving = this.#save(download);
    this.#saved.set(download, saving);
    return saving;
  }

  async #save(download: Download): Promise<StoredMedia> {
    const now = performance.now();
    this.#begun = this.#begun.filter((begun) => begun > now - MINUTE_MS);
    if (this.#open.size >= MAX_AT_ONCE || this.#begun.length >= MAX_PER_MINUTE) {
      cancel(download);
      throw browserError(
        "browser.failed",
        `too many downloads (at most ${MAX_AT_ONCE} at once and ${MAX_PER_MINUTE} in a minute)`,
      );
    }
    this.#begun.push(now);
    this.#open.add(download);
    try {
      const failure = await download.failure();
      if (failure !== null)
        throw browserError(
          "browser.failed",
          `${failure}; files of more than ${MAX_BYTES / 1_000_000} MB are cancelled`,
        );
      return await this.#media.save("browser", await download.createReadStream(), MAX_BYTES);
    } finally {
      this.#open.delete(download);
      // The browser's own copy.
      download.delete().catch(ignoreGone);
    }
  }
}

function cancel(download: Download): void {
  download.cancel().catch(ignoreGone);
}

/** The browser has ended, and what it had begun with it. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Error)) throw error;
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message.split("\n", 1)[0] : String(error)) ?? "";
