// The pages of an SQLite file read directly, for when its trees are broken: https://www.sqlite.org/fileformat.html
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
  /** Pages the file has, a part of one included. */
  readonly count: number;
  /** Pages the header says it has; undefined when the header cannot be trusted. */
  readonly expected: number | undefined;
  /** Pages the header lists as free; undefined when that list cannot be followed to its end. */
  readonly free: ReadonlySet<number> | undefined;
  /** Each row of each table leaf that is not free, and for each such page how many rows it should have but does not show. */
  rows(): Generator<RawRow | { readonly page: number; readonly broken: number }>;
  close(): void;
}

/** The file must have no log beside it. */
export function openPages(file: string): RawPages {
  const descriptor = openSync(file, "r");
  const count = Math.ceil(fstatSync(descriptor).size / PAGE_BYTES);
  const read = (page: number): Buffer | undefined => {
    if (page < 1 || page > count) return undefined;
    const bytes = Buffer.alloc(PAGE_BYTES);
    return readSync(descriptor, bytes, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES) === PAGE_BYTES ? bytes : undefined;
  };
  const header = trustedHeader(read(1));
  const free = header === undefined ? undefined : freePages(header, read);
  return {
    count,
    expected: header?.readUInt32BE(28),
    free,
    *rows() {
      for (let page = 1; page <= count; page++) {
        const bytes = free?.has(page) === true ? undefined : read(page);
        if (bytes !== undefined) yield* rowsOn(bytes, page, read);
      }
    },
    close: () => closeSync(descriptor),
  };
}

type ReadPage = (page: number) => Buffer | undefined;

function trustedHeader(first: Buffer | undefined): Buffer | undefined {
  const isOurs = first?.toString("latin1", 0, MAGIC.length) === MAGIC && first.readUInt16BE(16) === PAGE_BYTES;
  // Half a header is none.
  return isOurs && (first[HEADER_BYTES] === TABLE_LEAF || first[HEADER_BYTES] === TABLE_INNER) ? first : undefined;
}

function freePages(header: Buffer, read: ReadPage): Set<number> | undefined {
  const found = new Set<number>();
  let trunk = header.readUInt32BE(32);
  while (trunk !== 0) {
    const bytes = read(trunk);
    if (bytes === undefined || found.has(trunk)) return undefined;
    found.add(trunk);
    const leaves = bytes.readUInt32BE(4);
    if (leaves > PAGE_BYTES / 4 - 2) return undefined;
    for (let at = 0; at < leaves; at++) found.add(bytes.readUInt32BE(8 + at * 4));
    trunk = bytes.readUInt32BE(0);
  }
  return found.size === header.readUInt32BE(36) ? found : undefined;
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

/** What does not fit the page goes on in a chain of pages of its own. */
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
  // The last page of a chain says that it is the last.
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
  // No table of ours holds bytes.
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
  // Nine bytes are a number no row of ours has.
  return undefined;
}
