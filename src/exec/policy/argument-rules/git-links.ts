// Reads the index of a repository for submodule links, because git enters those repositories and obeys their settings.
import { join } from "node:path";

import { smallContent } from "../content.ts";
import { statOf } from "../programs.ts";

const gitLink = 0o160000;
const maxIndexBytes = 32 * 1024 * 1024;

/** Paths of linked repositories; undefined when the index cannot be read reliably. */
export function linkedPaths(gitFolder: string, hashBytes: 20 | 32): readonly string[] | undefined {
  const path = join(gitFolder, "index");
  if (statOf(path) === undefined) return [];
  const index = smallContent(path, maxIndexBytes);
  if (index === undefined) return undefined;
  try {
    return readEntries(index, hashBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the index is truncated
    throw error;
  }
}

function readEntries(index: Buffer, hashBytes: number): readonly string[] | undefined {
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const links: string[] = [];
  let at = 12;
  let previous = "";
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const mode = index.readUInt32BE(at + 24);
    const flags = index.readUInt16BE(at + 40 + hashBytes);
    const nameAt = at + 42 + hashBytes + ((flags & 0x4000) === 0 ? 0 : 2);
    const linked = mode === gitLink;
    const entry = version === 4 ? packedName(index, nameAt, previous) : plainName(index, at, nameAt, linked);
    if (linked) links.push(entry.name);
    previous = entry.name;
    at = entry.next;
  }
  // A split index keeps most entries in another file.
  return index.subarray(at, at + 4).toString("latin1") === "link" || index.includes("link", at) ? undefined : links;
}

interface Entry {
  readonly name: string;
  readonly next: number;
}

/** Entries are padded with NULs to a multiple of eight. The name is read only when needed, because indexes are long. */
function plainName(index: Buffer, start: number, nameAt: number, needed: boolean): Entry {
  const end = index.indexOf(0, nameAt);
  if (end < 0) throw new RangeError("the name has no end");
  return {
    name: needed ? index.toString("utf8", nameAt, end) : "",
    next: start + Math.floor((end - start + 8) / 8) * 8,
  };
}

/** Version 4 stores how much of the previous name to cut off and what to append. */
function packedName(index: Buffer, nameAt: number, previous: string): Entry {
  let at = nameAt;
  let byte = index.readUInt8(at++);
  let cut = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index.readUInt8(at++);
    cut = ((cut + 1) << 7) | (byte & 0x7f);
  }
  const end = index.indexOf(0, at);
  if (end < 0) throw new RangeError("the name has no end");
  const kept = Buffer.from(previous, "utf8");
  return {
    name: kept.toString("utf8", 0, Math.max(0, kept.length - cut)) + index.toString("utf8", at, end),
    next: end + 1,
  };
}
