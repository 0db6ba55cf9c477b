// The media store: files that came in or go out (attachments, screenshots, clips), private, bounded and deleted in time.
import type { FileHandle } from "node:fs/promises";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { diskError, syncFolder } from "../base/atomic-file.ts";
import type { Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { openRoot } from "../base/rooted-fs.ts";
import { extensionOf, kindOfType, mimeTypeOf, type MediaKind } from "./media-type.ts";
import { SNIFF_BYTES } from "./sniff.ts";

export const mediaOrigins = ["inbound", "outbound", "browser", "node"] as const;
export type MediaOrigin = (typeof mediaOrigins)[number];

export interface StoredMedia {
  /** Absolute. */
  readonly path: string;
  /** By content. */
  readonly mimeType: string;
  readonly kind: MediaKind;
  readonly size: number;
}

export interface OpenMedia extends StoredMedia {
  /** The caller closes it. */
  readonly handle: FileHandle;
}

export interface MediaStore {
  /** `<state>/media`. */
  readonly folder: string;
  /**
   * Durable when it resolves. Reads the source only once and never holds it whole. Rejects with `media.too-large`,
   * `media.empty` or the disk's error, and leaves no file then.
   */
  save(origin: MediaOrigin, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes?: number): Promise<StoredMedia>;
  /** Rejects with `fs.*` for paths outside the folder (links resolved) and for files that were deleted. */
  open(path: string): Promise<OpenMedia>;
  close(): void;
}

export interface MediaStoreOptions {
  /** The state directory. */
  readonly state: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxFileBytes?: number;
  /** For all files together; the oldest are deleted first. */
  readonly maxTotalBytes?: number;
}

/** The largest document that a channel accepts. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const MAX_TOTAL_BYTES = 2 * 1024 * 1024 * 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const lifetimeMs: Readonly<Record<MediaOrigin, number>> = {
  inbound: 7 * DAY_MS,
  outbound: DAY_MS,
  browser: DAY_MS,
  node: DAY_MS,
};

/** Deletes at most once an hour and when the limit is reached, never at start. */
export function createMediaStore(options: MediaStoreOptions): MediaStore {
  const { clock, log, maxFileBytes = MAX_FILE_BYTES, maxTotalBytes = MAX_TOTAL_BYTES } = options;
  const folder = join(options.state, "media");
  /** Undefined until the folder was looked through; then kept up to date by every save. */
  let totalBytes: number | undefined;
  let pruning: Promise<void> | undefined;
  const prune = async (): Promise<void> => {
    pruning ??= pruneFolder(folder, clock.now(), maxTotalBytes)
      .then((left) => void (totalBytes = left))
      .catch((error: unknown) => log.warn("could not delete old media files", { folder, error: String(error) }))
      .finally(() => (pruning = undefined));
    return pruning;
  };
  const timer = setInterval(() => void prune(), HOUR_MS);
  timer.unref();
  return {
    folder,
    async save(origin, source, maxBytes = maxFileBytes) {
      const saved = await writeMedia(join(folder, origin), source, Math.min(maxBytes, maxFileBytes));
      if (totalBytes !== undefined) totalBytes += saved.size;
      if (totalBytes === undefined || totalBytes > maxTotalBytes) await prune();
      return saved;
    },
    async open(path) {
      const root = await openRoot({ root: folder, outsideHint: "name a file of the media folder" });
      try {
        const { handle, real, size } = await root.open(path);
        const mimeType = await sniffFile(handle).catch(async (error: unknown) => {
          await handle.close();
          throw error;
        });
        return { handle, path: real, size, mimeType, kind: kindOfType(mimeType) };
      } finally {
        root.close();
      }
    },
    close: () => clearInterval(timer),
  };
}

async function sniffFile(handle: FileHandle): Promise<string> {
  const head = Buffer.alloc(SNIFF_BYTES);
  const { bytesRead } = await handle.read(head, 0, SNIFF_BYTES, 0);
  return mimeTypeOf(head.subarray(0, bytesRead));
}

async function writeMedia(
  folder: string,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<StoredMedia> {
  const id = newId();
  const temp = join(folder, `.${id}.tmp`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { head, size } = await copyTo(temp, source, maxBytes);
    if (size === 0) throw new OpenClawError("media.empty", "the file is empty", { hint: "send it again" });
    const mimeType = mimeTypeOf(head);
    const path = join(folder, `${id}.${extensionOf(mimeType)}`);
    await rename(temp, path);
    syncFolder(folder);
    return { path, mimeType, kind: kindOfType(mimeType), size };
  } catch (error) {
    await rm(temp, { force: true });
    throw fromDisk.has(errnoOf(error) ?? "") ? diskError(temp, error) : error;
  }
}

/** Other errors come from the source, such as a lost connection. */
const fromDisk: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO"]);

async function copyTo(
  path: string,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly head: Buffer; readonly size: number }> {
  const head: Uint8Array[] = [];
  let size = 0;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const part of source instanceof Uint8Array ? [source] : source) {
      if (size < SNIFF_BYTES) head.push(part.subarray(0, SNIFF_BYTES - size));
      size += part.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      await file.writeFile(part);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { head: Buffer.concat(head), size };
}

function tooLarge(maxBytes: number): OpenClawError {
  return new OpenClawError("media.too-large", `the file is larger than ${maxBytes} bytes`, {
    hint: "send a smaller copy",
    details: { maxBytes },
  });
}

interface Entry {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  readonly isExpired: boolean;
}

/** Only names that `save` gives are touched. Returns the bytes that are left. */
async function pruneFolder(folder: string, now: number, maxTotalBytes: number): Promise<number> {
  const entries = (await Promise.all(mediaOrigins.map((origin) => entriesOf(folder, origin, now)))).flat();
  const expired = entries.filter(({ isExpired }) => isExpired);
  const kept = entries.filter(({ isExpired }) => !isExpired);
  let total = kept.reduce((sum, { size }) => sum + size, 0);
  const byAge = kept.toSorted((left, right) => left.modifiedMs - right.modifiedMs);
  // The newest file stays, because its reference is about to be stored.
  const tooMany = byAge.slice(0, -1).filter(({ size }) => {
    if (total <= maxTotalBytes) return false;
    total -= size;
    return true;
  });
  for (const { path } of [...expired, ...tooMany]) await rm(path, { force: true });
  return total;
}

export const ownName = /^(?:[0-9a-f-]{36}\.[a-z0-9]{1,5}|\.[0-9a-f-]{36}\.tmp)$/;

async function entriesOf(folder: string, origin: MediaOrigin, now: number): Promise<Entry[]> {
  const names = await readdir(join(folder, origin)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
  const entries: Entry[] = [];
  for (const name of names) {
    if (!ownName.test(name)) continue;
    const path = join(folder, origin, name);
    const facts = await stat(path).catch((error: unknown) => {
      // Another deletion was faster.
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    });
    if (facts === undefined) continue;
    const ageMs = now - facts.mtimeMs;
    // What a killed process had begun to write.
    const isExpired = ageMs > (name.startsWith(".") ? HOUR_MS : lifetimeMs[origin]);
    entries.push({ path, size: facts.size, modifiedMs: facts.mtimeMs, isExpired });
  }
  return entries;
}
