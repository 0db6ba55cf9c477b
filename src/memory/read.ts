// Reading lines of a memory file: only memory, only Markdown, no links, bound to the root the path belongs to.
import { OpenClawError } from "../core/error.ts";
import { openRoot } from "../base/rooted-fs.ts";
import { refused } from "../base/rooted-error.ts";
import { MAX_NOTE_BYTES } from "./files.ts";
import type { MemoryRead, MemoryText } from "./memory.ts";
import { curatedNames, rootOf, shownPath } from "./roots.ts";
import type { IndexSettings } from "./settings.ts";
import { join } from "node:path";

/** Throws `memory.outside` for what is no memory, `memory.private` for what this asker may not see. */
export async function readMemory(
  settings: Pick<IndexSettings, "workspace" | "extraPaths">,
  { path, from, lines }: Pick<MemoryRead, "path" | "from" | "lines">,
  isOwners: boolean,
): Promise<MemoryText> {
  const place = rootOf(settings, path);
  if (place === undefined) throw outside(path);
  const shown = shownPath(settings.workspace, join(place.root, place.name));
  if (!isOwners && curatedNames.some((name) => name === shown)) throw forOwner(shown);
  const text = await textAt(place.root, place.name);
  if (from === undefined && lines === undefined) return { path: shown, text };
  const start = Math.max(1, from ?? 1);
  const all = text.split("\n");
  const part = all.slice(start - 1, lines === undefined ? undefined : start - 1 + Math.max(0, lines));
  return { path: shown, text: part.join("\n"), from: start, lines: part.length };
}

async function textAt(folder: string, name: string): Promise<string> {
  const root = await openRoot({
    root: folder,
    guard({ access, real }) {
      if (access === "follow")
        throw refused("fs.link", real, "is a link; memory follows none", { hint: "name the file itself" });
    },
  }).catch(nothingThere);
  if (root === undefined) return "";
  try {
    const { bytes } = await root.read(name, { maxBytes: MAX_NOTE_BYTES });
    return bytes
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  } catch (error) {
    nothingThere(error);
    return "";
  } finally {
    root.close();
  }
}

/** A note that is not there yet is an empty one. */
function nothingThere(error: unknown): undefined {
  if (error instanceof OpenClawError && (error.code === "fs.not-found" || error.code === "fs.not-directory"))
    return undefined;
  throw error;
}

function outside(path: string): OpenClawError {
  return new OpenClawError("memory.outside", `${path.slice(0, 200)} is not a note`, {
    hint: "MEMORY.md, memory/**/*.md, or a Markdown file below memorySearch.extraPaths",
  });
}

function forOwner(path: string): OpenClawError {
  return new OpenClawError("memory.private", `${path} is read in the private main session only`, {
    hint: "ask in the main session, or keep what this chat may know under memory/",
  });
}
