// Reads the pages of an SQLite file directly, for a file with broken trees: https://www.sqlite.org/fileformat.html
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import type { SqlValue } from "./sql.ts";

export const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const TABLE_LEAF = 0x0d;
const TABLE_INNER = 0x05;

/** One row of some table. */
export interface RawRow {
  readonly page: number;
  readonly rowid: number;
  readonly values: readonly SqlValue[];
}

export interface RawPages {
  /** Number of pages in the file, including an incomplete last one. */
  readonly count: number;
  /** Number of pages in the header; undefined when the header is not valid. */
  readonly expected: number | undefined;
  /** The list of free pages is complete: a page that it does not name is in use. Otherwise a page can be an old copy. */
  readonly isFreeListWhole: boolean;
  /** Each row of each table leaf that is not listed as free, and for each such page the number of unreadable rows. */
  rows(): Generator<RawRow | { readonly page: number; readonly broken: number }>;
  close(): void;
}

/** The file must have no log. */
export function openPages(file: string): RawPages {
  const descriptor = openSync(file, "r");
  const count = Math.ceil(fstatSync(descriptor).size / PAGE_BYTES);
  const read = (page: number): Buffer | undefined => {
    if (page < 1 || page > count) return undefined;
    const bytes = Buffer.alloc(PAGE_BYTES);
    return readSync(descriptor, bytes, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES) === PAGE_BYTES ? bytes : undefined;
  };
  const header = trustedHeader(read(1));
  const { free, isWhole } = header === undefined ? noFreeList : readFreeList(header, count, read);
  return {
    count,
    expected: header?.readUInt32BE(28),
    isFreeListWhole: isWhole,
    *rows() {
      for (let page = 1; page <= count; page++) {
        const bytes = free.has(page) ? undefined : read(page);
        if (bytes !== undefined) yield* rowsOn(bytes, page, read);
      }
    },
    close: () => closeSync(descriptor),
  };
}

type ReadPage = (page: number) => Buffer | undefined;

function trustedHeader(first: Buffer | undefined): Buffer | undefined {
  const isOurs = first?.toString("latin1", 0, MAGIC.length) === MAGIC && first.readUInt16BE(16) === PAGE_BYTES;
  // An incomplete header is not valid.
  return isOurs && (first[HEADER_BYTES] === TABLE_LEAF || first[HEADER_BYTES] === TABLE_INNER) ? first : undefined;
}

interface FreeList {
  /** All free pages that a readable part of the list names. */
  readonly free: ReadonlySet<number>;
  readonly isWhole: boolean;
}
const noFreeList: FreeList = { free: new Set(), isWhole: false };

function readFreeList(header: Buffer, count: number, read: ReadPage): FreeList {
  const free = new Set<number>();
  // A truncated file still lists the free pages that it lost.
  const end = Math.max(count, header.readUInt32BE(28));
  let trunk = header.readUInt32BE(32);
  while (trunk !== 0) {
    const listed = free.has(trunk) ? undefined : leavesOf(read(trunk), end);
    if (listed === undefined) return { free, isWhole: false };
    for (const page of [trunk, ...listed.leaves]) free.add(page);
    trunk = listed.next;
  }
  return { free, isWhole: free.size === header.readUInt32BE(36) };
}

/** Undefined for a page that cannot be a part of the list. */
function leavesOf(trunk: Buffer | undefined, end: number): { leaves: number[]; next: number } | undefined {
  const length = trunk?.readUInt32BE(4) ?? 0;
  if (trunk === undefined || length > PAGE_BYTES / 4 - 2) return undefined;
  const leaves = Array.from({ length }, (_, at) => trunk.readUInt32BE(8 + at * 4));
  // Page 1 has the header.
  if (leaves.some((page) => page < 2 || page > end)) return undefined;
  return { leaves, next: trunk.readUInt32BE(0) };
}

function* rowsOn(bytes: Buffer, page: number, read: ReadPage): ReturnType<RawPages["rows"]> {
  const start = page === 1 ? HEADER_BYTES : 0;
  if (bytes[start] !== TABLE_LEAF) return;
  const cells = bytes.readUInt16BE(start + 3);
  if (cells > (PAGE_BYTES - start - 8) / 6) return;
  let broken = 0;
  for (let at = 0; at < cells; at++) {
    const row = rowAt(bytes, page, bytes.readUInt16BE(start + 8 + at * 2), read);
    if (row === undefined) broken++;
    else yield row;
  }
  if (broken > 0) yield { page, broken };
}

function rowAt(bytes: Buffer, page: number, cell: number, read: ReadPage): RawRow | undefined {
  const size = varint(bytes, cell);
  const rowid = size === undefined ? undefined : varint(bytes, size.next);
  if (size === undefined || rowid === undefined) return undefined;
  const payload = payloadAt(bytes, rowid.next, size.value, read);
  const values = payload === undefined ? undefined : recordIn(payload);
  return values === undefined ? undefined : { page, rowid: rowid.value, values };
}

/** A payload that does not fit the page continues in a chain of overflow pages. */
function payloadAt(bytes: Buffer, from: number, size: number, read: ReadPage): Buffer | undefined {
  const most = PAGE_BYTES - 35;
  if (size <= most) return from + size <= PAGE_BYTES ? bytes.subarray(from, from + size) : undefined;
  if (size > 2 ** 31) return undefined;
  const least = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;
  const wanted = least + ((size - least) % (PAGE_BYTES - 4));
  const here = wanted <= most ? wanted : least;
  if (from + here + 4 > PAGE_BYTES) return undefined;
  const parts = [bytes.subarray(from, from + here)];
  let missing = size - here;
  let next = bytes.readUInt32BE(from + here);
  while (missing > 0) {
    const more = next === 0 ? undefined : read(next);
    if (more === undefined) return undefined;
    parts.push(more.subarray(4, 4 + Math.min(missing, PAGE_BYTES - 4)));
    missing -= PAGE_BYTES - 4;
    next = more.readUInt32BE(0);
  }
  // The last page of a chain is marked as the last.
  return next === 0 ? Buffer.concat(parts) : undefined;
}

/** Undefined unless header and values fill the payload exactly. */
function recordIn(payload: Buffer): SqlValue[] | undefined {
  const head = varint(payload, 0);
  if (head === undefined || head.value > payload.length) return undefined;
  const values: SqlValue[] = [];
  let at = head.next;
  let body = head.value;
  while (at < head.value) {
    const type = varint(payload, at);
    if (type === undefined) return undefined;
    const value = valueOf(payload, body, type.value);
    if (value === undefined) return undefined;
    values.push(value.value);
    at = type.next;
    body = value.next;
  }
  return at === head.value && body === payload.length ? values : undefined;
}

const intBytes: readonly number[] = [0, 1, 2, 3, 4, 6, 8];
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function valueOf(payload: Buffer, at: number, type: number): { value: SqlValue; next: number } | undefined {
  if (type === 0) return { value: null, next: at };
  if (type === 8 || type === 9) return { value: type - 8, next: at };
  const length = type >= 12 ? Math.floor((type - 12) / 2) : type === 7 ? 8 : (intBytes[type] ?? -1);
  const next = at + length;
  if (length < 0 || next > payload.length) return undefined;
  if (type === 7) return { value: payload.readDoubleBE(at), next };
  if (type < 7) {
    const value = length === 8 ? Number(payload.readBigInt64BE(at)) : payload.readIntBE(at, length);
    return { value, next };
  }
  // No table of the store has blob columns.
  if (type % 2 === 0) return undefined;
  try {
    return { value: utf8.decode(payload.subarray(at, next)), next };
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function varint(bytes: Buffer, from: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let at = 0; at < 8; at++) {
    const byte = bytes[from + at];
    if (byte === undefined) return undefined;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? { value, next: from + at + 1 } : undefined;
  }
  // No row of the store has a nine-byte number.
  return undefined;
}
