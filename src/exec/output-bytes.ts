// Stores the bytes of one output: the current block in memory, earlier blocks in a file, a ring of blocks once the file
// is full.
import { createOutputFile, type Block } from "./output-file.ts";

/** The memory of one command, and the size of a write. */
export const BLOCK_BYTES = 131_072;
const FIRST_BYTES = 4096;
/** Blocks waiting for the disk before the program is paused: per output, and in total. */
const MAX_WAITING = 16;
const MAX_WAITING_OF_ALL = 64;
/** Allowed for each output even when others fill the queue. */
const FAIR_SHARE = 2;
/** Blocks kept in memory when the file is full: one megabyte. */
const MAX_RING = 8;

export interface ByteStoreOptions {
  readonly filePath: () => Promise<string>;
  readonly maxFileBytes: number;
  /** A block is complete. */
  readonly onSealed: () => void;
  /** Called after `add` returned false, when more bytes can be added. */
  readonly onDrain: () => void;
}

export interface ByteStore {
  readonly length: number;
  /** At most one block; false means: stop until `onDrain`. */
  add(bytes: Uint8Array): boolean;
  /** The stored bytes of [from, to); dropped bytes are skipped. */
  readSync(from: number, to: number): Buffer;
  read(from: number, to: number): Promise<Buffer>;
  /** The range of dropped bytes, if any, and why they were dropped. */
  gap(): { readonly from: number; readonly to: number; readonly why: string } | undefined;
  discard(): Promise<void>;
}

export function createByteStore({ filePath, maxFileBytes, onSealed, onDrain }: ByteStoreOptions): ByteStore {
  const ring: Block[] = [];
  let active: Buffer = Buffer.alloc(0);
  let activeStart = 0;
  let used = 0;
  let isFull = false;

  const notifyDrain = (): void => {
    if (!isFull) return;
    isFull = false;
    onDrain();
  };
  const keepInRing = (blocks: readonly Block[]): void => {
    ring.push(...blocks);
    for (const old of ring.splice(0, Math.max(0, ring.length - MAX_RING))) recycleBlock(old.bytes);
  };
  const file = createOutputFile({
    path: filePath,
    maxBytes: maxFileBytes,
    onWritten(blocks) {
      for (const block of blocks) recycleBlock(block.bytes);
      waitingOfAll -= blocks.length;
      notifyDrain();
    },
    onStopped(blocks) {
      keepInRing(blocks);
      waitingOfAll -= blocks.length;
      notifyDrain();
    },
  });

  const seal = (): void => {
    const block = { bytes: active.subarray(0, used), start: activeStart };
    activeStart += used;
    used = 0;
    onSealed();
    if (file.stopped === undefined) {
      waitingOfAll += 1;
      if (file.append(block)) {
        waitingOfAll -= 1;
        return; // the block is reused
      }
    } else keepInRing([block]);
    active = takeBlock();
  };

  const memory = (): readonly Block[] => [
    ...ring,
    ...file.waiting,
    { bytes: active.subarray(0, used), start: activeStart },
  ];
  /** Reads the file first, then memory. Memory is copied, because blocks are reused. */
  const plan = (from: number, to: number): { readonly fileTo: number; readonly pieces: Buffer[] } => {
    const fileTo = Math.max(from, Math.min(to, file.length));
    const pieces = memory().flatMap(({ bytes, start }) => {
      const [first, last] = [Math.max(fileTo, start), Math.min(to, start + bytes.length)];
      return first < last ? [Buffer.from(bytes.subarray(first - start, last - start))] : [];
    });
    return { fileTo, pieces };
  };

  return {
    get length() {
      return activeStart + used;
    },
    add(bytes) {
      if (used + bytes.length > BLOCK_BYTES) seal();
      if (used + bytes.length > active.length) active = enlarge(active, used, used + bytes.length);
      active.set(bytes, used);
      used += bytes.length;
      const waiting = file.stopped === undefined ? file.waiting.length : 0;
      isFull = waiting >= MAX_WAITING || (waiting >= FAIR_SHARE && waitingOfAll >= MAX_WAITING_OF_ALL);
      return !isFull;
    },
    readSync(from, to) {
      const { fileTo, pieces } = plan(from, to);
      return Buffer.concat(fileTo > from ? [file.readSync(from, fileTo), ...pieces] : pieces);
    },
    async read(from, to) {
      const { fileTo, pieces } = plan(from, to);
      return Buffer.concat(fileTo > from ? [await file.read(from, fileTo), ...pieces] : pieces);
    },
    gap() {
      const to = memory()[0]?.start ?? 0;
      return to > file.length ? { from: file.length, to, why: file.stopped ?? "they were removed" } : undefined;
    },
    async discard() {
      await file.remove();
      ring.length = 0;
      active = Buffer.alloc(0);
      activeStart += used;
      used = 0;
    },
  };
}

let waitingOfAll = 0;
const freeBlocks: ArrayBufferLike[] = [];

function takeBlock(): Buffer {
  const free = freeBlocks.pop();
  return free === undefined ? Buffer.allocUnsafeSlow(BLOCK_BYTES) : Buffer.from(free);
}

/** Keeps a few blocks for reuse; allocating at the speed of a pipe would strain the garbage collector. */
function recycleBlock(bytes: Buffer): void {
  if (bytes.buffer.byteLength === BLOCK_BYTES && freeBlocks.length < MAX_WAITING) freeBlocks.push(bytes.buffer);
}

function enlarge(bytes: Buffer, used: number, needed: number): Buffer {
  let size = Math.max(FIRST_BYTES, bytes.length);
  while (size < needed) size *= 2;
  const larger = size >= BLOCK_BYTES ? takeBlock() : Buffer.allocUnsafeSlow(size);
  bytes.copy(larger, 0, 0, used);
  return larger;
}
