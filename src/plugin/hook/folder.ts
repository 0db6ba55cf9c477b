// The files of one hook: regular, few, writable by the owner only; and their digest.
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import { notOwn } from "../own-file.ts";

export interface HookFiles {
  /** By path inside the folder, in order. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** `sha256-<hex>` over names and contents. */
  readonly digest: string;
}

const MAX_FILES = 200;
const MAX_BYTES = 5_000_000;
const MAX_DEPTH = 8;

/** Reads every file once, so that the digest covers what runs. Throws `hook.bad`. */
export function readHookFiles(folder: string): HookFiles {
  const files = new Map<string, Buffer>();
  const room = { left: MAX_BYTES };
  readInto(files, folder, "", room, 0);
  const hash = createHash("sha256");
  for (const [name, bytes] of files) hash.update(`${name.length}:${name}:${bytes.length}:`).update(bytes);
  return { files, digest: `sha256-${hash.digest("hex")}` };
}

/** Throws `hook.bad` for a file that others can write. */
export function requireOwn(path: string, kind: "file" | "folder"): void {
  const why = notOwn(path, kind);
  if (why !== undefined) throw bad(path, why);
}

function readInto(
  files: Map<string, Buffer>,
  folder: string,
  inside: string,
  room: { left: number },
  depth: number,
): void {
  if (depth > MAX_DEPTH) throw bad(folder, "is nested too deep");
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const name = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory()) readInto(files, path, name, room, depth + 1);
    else if (!entry.isFile()) throw bad(path, "is a link, or not a regular file");
    else files.set(name, readPlain(path, room));
    if (files.size > MAX_FILES) throw bad(folder, `contains more than ${MAX_FILES} files`);
  }
}

function readPlain(path: string, room: { left: number }): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, nlink } = fstatSync(fd);
    if (nlink > 1) throw bad(path, "has more than one hard link");
    room.left -= size;
    if (room.left < 0) throw bad(path, `and the other files add up to more than ${MAX_BYTES} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function bad(path: string, why: string): OpenClawError {
  return new OpenClawError("hook.bad", `${visible(path)} ${why}`, {
    hint: "the files of a hook must be regular files that only the owner can write",
  });
}
