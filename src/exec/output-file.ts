// The file behind a command's output: blocks are appended in order, one write at a time; created with the first block.
import { close, constants, open, read, readSync, writeSync, writev } from "node:fs";
import { unlink } from "node:fs/promises";
import { promisify } from "node:util";

import { errnoOf } from "../core/error.ts";

const openAsync = promisify(open);
const closeAsync = promisify(close);

export interface Block {
  readonly bytes: Buffer;
  /** The offset of its first byte in the whole output. */
  readonly start: number;
}

export interface OutputFile {
  /** The number of bytes in the file, which always is a prefix of the output. */
  readonly length: number;
  /** Blocks to be written; their bytes must not change while they are in this list. */
  readonly waiting: readonly Block[];
  /** Why writing stopped. */
  readonly stopped: string | undefined;
  /** True when the block was written immediately and its bytes can be reused; otherwise it waits. */
  append(block: Block): boolean;
  readSync(from: number, to: number): Buffer;
  read(from: number, to: number): Promise<Buffer>;
  remove(): Promise<void>;
}

export interface OutputFileOptions {
  /** Creates the folder if needed and returns the path. */
  readonly path: () => Promise<string>;
  readonly maxBytes: number;
  /** These blocks were written. */
  readonly onWritten: (blocks: readonly Block[]) => void;
  /** These blocks will never be written. Called once. */
  readonly onStopped: (blocks: readonly Block[]) => void;
}

/** A write to the page cache takes microseconds; handing it to a thread takes much longer. */
const SLOW_WRITE_MS = 20;
/** After a slow write the disk is behind, so this many bytes go through threads before the next direct write. */
const COOLING_BYTES = 16_777_216;

export function createOutputFile({ path, maxBytes, onWritten, onStopped }: OutputFileOptions): OutputFile {
  const waiting: Block[] = [];
  let file: { readonly fd: number; readonly path: string } | undefined;
  let length = 0;
  let stopped: string | undefined;
  let pumping: Promise<void> | undefined;
  let coolUntil = 0;

  const writeNow = (block: Block): boolean => {
    if (file === undefined || pumping !== undefined || stopped !== undefined) return false;
    if (length < coolUntil || block.start + block.bytes.length > maxBytes) return false;
    const begun = performance.now();
    try {
      // A short write or a full disk is left to the asynchronous path, which starts again at the same offset.
      if (writeSync(file.fd, block.bytes, 0, block.bytes.length, length) < block.bytes.length) return false;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return false;
    }
    length += block.bytes.length;
    if (performance.now() - begun > SLOW_WRITE_MS) coolUntil = length + COOLING_BYTES;
    return true;
  };

  const pump = async (): Promise<void> => {
    while (waiting.length > 0 && stopped === undefined) {
      const batch = [...waiting];
      try {
        file ??= await create(await path());
        if (batch.some((block) => block.start + block.bytes.length > maxBytes)) {
          stopped = `the file reached its limit of ${maxBytes} bytes`;
          break;
        }
        await writeAll(
          file.fd,
          batch.map((block) => block.bytes),
          length,
        );
      } catch (error) {
        stopped = `the file could not be written (${errnoOf(error) ?? String(error)})`;
        break;
      }
      const last = batch.at(-1);
      length = last === undefined ? length : last.start + last.bytes.length;
      waiting.splice(0, batch.length);
      onWritten(batch);
    }
    if (stopped !== undefined) onStopped(waiting.splice(0));
  };

  return {
    get length() {
      return length;
    },
    waiting,
    get stopped() {
      return stopped;
    },
    append(block) {
      if (writeNow(block)) return true;
      waiting.push(block);
      pumping ??= pump().finally(() => {
        pumping = undefined;
      });
      return false;
    },
    readSync(from, to) {
      const bytes = Buffer.allocUnsafeSlow(to - from);
      const count = file === undefined ? 0 : readSync(file.fd, bytes, 0, to - from, from);
      return bytes.subarray(0, count);
    },
    async read(from, to) {
      const bytes = Buffer.allocUnsafeSlow(to - from);
      const fd = file?.fd;
      if (fd === undefined) return bytes.subarray(0, 0);
      return new Promise((resolve, reject) => {
        read(fd, bytes, 0, to - from, from, (error, count) =>
          error === null ? resolve(bytes.subarray(0, count)) : reject(error),
        );
      });
    },
    async remove() {
      stopped ??= "the output was removed";
      await pumping;
      const gone = file;
      file = undefined;
      if (gone === undefined) return;
      length = 0;
      await unlink(gone.path).catch((error: unknown) => {
        if (errnoOf(error) !== "ENOENT") throw error;
      });
      // Not awaited: freeing a large file takes milliseconds.
      closeAsync(gone.fd).catch((error: unknown) => {
        stopped = `the file could not be closed (${errnoOf(error) ?? String(error)})`;
      });
    },
  };
}

async function create(path: string): Promise<{ fd: number; path: string }> {
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants;
  return { fd: await openAsync(path, O_RDWR | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), 0o600), path };
}

async function writeAll(fd: number, buffers: readonly Buffer[], position: number): Promise<void> {
  let rest: readonly Buffer[] = buffers;
  let at = position;
  while (rest.length > 0) {
    const written = await new Promise<number>((resolve, reject) => {
      writev(fd, rest, at, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (written === 0) throw new Error("no bytes were written");
    at += written;
    rest = behind(rest, written);
  }
}

function behind(buffers: readonly Buffer[], count: number): readonly Buffer[] {
  let left = count;
  return buffers.flatMap((buffer) => {
    const cut = Math.min(left, buffer.length);
    left -= cut;
    return cut === buffer.length ? [] : [buffer.subarray(cut)];
  });
}
