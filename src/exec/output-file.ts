// The file behind a command's output: blocks are appended in order, one write at a time; it is made with the first block.
import { close, constants, open, read, readSync, writev } from "node:fs";
import { unlink } from "node:fs/promises";
import { promisify } from "node:util";

import { errnoOf } from "../core/error.ts";

const openAsync = promisify(open);
const closeAsync = promisify(close);

export interface Block {
  readonly bytes: Buffer;
  /** Place of its first byte in the whole output. */
  readonly start: number;
}

export interface OutputFile {
  /** Bytes that are in the file: the first ones of the output, without a hole. */
  readonly length: number;
  /** Blocks on their way; the bytes must not change until they are out of this list. */
  readonly waiting: readonly Block[];
  /** Why nothing is added any more. */
  readonly stopped: string | undefined;
  append(block: Block): void;
  readSync(from: number, to: number): Buffer;
  read(from: number, to: number): Promise<Buffer>;
  remove(): Promise<void>;
}

export interface OutputFileOptions {
  /** Makes the folder if need be and names the file. */
  path(): Promise<string>;
  readonly maxBytes: number;
  /** These are in the file now; there is room again. */
  onWritten(blocks: readonly Block[]): void;
  /** These will never be. Called once. */
  onStopped(blocks: readonly Block[]): void;
}

export function createOutputFile({ path, maxBytes, onWritten, onStopped }: OutputFileOptions): OutputFile {
  const waiting: Block[] = [];
  let file: { readonly fd: number; readonly path: string } | undefined;
  let length = 0;
  let stopped: string | undefined;
  let pumping: Promise<void> | undefined;

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
      waiting.push(block);
      pumping ??= pump().finally(() => {
        pumping = undefined;
      });
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
      await closeAsync(gone.fd);
      await unlink(gone.path).catch((error: unknown) => {
        if (errnoOf(error) !== "ENOENT") throw error;
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
    if (written === 0) throw new Error("nothing was written");
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
