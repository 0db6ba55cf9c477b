// Files for an upload: read from allowed folders only, links resolved, so that the browser needs no access to them.
import { realpath } from "node:fs/promises";
import { basename, isAbsolute, resolve, sep } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { openRoot } from "../base/rooted-fs.ts";
import { mimeTypeOf } from "../media/media-type.ts";
import { browserError } from "./errors.ts";

export interface UploadFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export interface UploadFolders {
  /** Relative paths start in the first one. */
  readonly allowed: readonly string[];
  /** Denied unless a folder inside it is allowed. */
  readonly denied: string;
}

/** The most that can be sent to a browser in one piece. */
const MAX_BYTES = 50_000_000;

/** Throws `browser.upload-denied` or `browser.bad-request`. */
export async function readUploadFiles(paths: readonly string[], folders: UploadFolders): Promise<UploadFile[]> {
  const allowed = await Promise.all(folders.allowed.map(realOrSame));
  const denied = await realOrSame(folders.denied);
  const files: UploadFile[] = [];
  let left = MAX_BYTES;
  for (const path of paths) {
    const buffer = await readFileIn(path, allowed, denied, left);
    left -= buffer.length;
    files.push({ name: basename(path), mimeType: mimeTypeOf(buffer), buffer });
  }
  return files;
}

async function readFileIn(path: string, allowed: readonly string[], denied: string, maxBytes: number): Promise<Buffer> {
  const absolute = isAbsolute(path) ? path : resolve(allowed[0] ?? "/", path);
  const real = await realOrSame(absolute);
  // The deepest folder that contains the file decides.
  const [root] = [...allowed, denied].filter((folder) => isInside(real, folder)).sort((a, b) => b.length - a.length);
  if (root === undefined || (root === denied && !allowed.includes(denied)))
    throw browserError("browser.upload-denied", `${visible(path, 200)} is outside of the folders for uploads`, {
      hint: "copy the file into the workspace first",
    });
  const folder = await openRoot({ root, outsideHint: "copy the file into the workspace first" });
  try {
    const { handle, size } = await folder.open(real);
    try {
      if (size > maxBytes)
        throw browserError("browser.bad-request", `uploads are limited to ${MAX_BYTES / 1_000_000} MB per call`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code.startsWith("browser.")) throw error;
    throw browserError("browser.bad-request", `cannot upload ${visible(path, 200)}: ${error.message}`, {
      cause: error,
    });
  } finally {
    folder.close();
  }
}

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** A path that does not exist is reported when it is opened. */
async function realOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return resolve(path);
  }
}
