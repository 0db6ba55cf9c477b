// Reads lines of a memory file: only Markdown below a memory root, without following links.
import { OpenClawError } from "../core/error.ts";
import { openRoot } from "../base/rooted-fs.ts";
import { refused } from "../base/rooted-error.ts";
import { MAX_NOTE_BYTES } from "./files.ts";
import type { MemoryRead, MemoryText } from "./memory.ts";
import { curatedNames, rootOf, shownPath } from "./roots.ts";
import type { IndexSettings } from "./settings.ts";
import { join } from "node:path";

/** Throws `memory.outside` for other files, `memory.private` for files that this session may not see. */
export async function readMemory(
  settings: Pick<IndexSettings, "workspace" | "extraPaths">,
  { path, from, lines }: Pick<MemoryRead, "path" | "from" | "lines">,
  isOwnerChat: boolean,
): Promise<MemoryText> {
  const place = rootOf(settings, path);
  if (place === undefined) throw outside(path);
  const shown = shownPath(settings.workspace, join(place.root, place.name));
  if (!isOwnerChat && curatedNames.some((name) => name === shown)) throw forOwner(shown);
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
    check({ access, real }) {
      if (access === "follow")
        throw refused("fs.link", real, "is a link, and memory does not follow links", { hint: "name the file itself" });
    },
  }).catch(ignoreMissing);
  if (root === undefined) return "";
  try {
    const { bytes } = await root.read(name, { maxBytes: MAX_NOTE_BYTES });
    return bytes
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
  } catch (error) {
    ignoreMissing(error);
    return "";
  } finally {
    root.close();
  }
}

/** A missing note reads as empty text. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof OpenClawError && (error.code === "fs.not-found" || error.code === "fs.not-directory"))
    return undefined;
  throw error;
}

function outside(path: string): OpenClawError {
  return new OpenClawError("memory.outside", `${path.slice(0, 200)} is not a note`, {
    hint: "use MEMORY.md, memory/**/*.md, or a Markdown file below memorySearch.extraPaths",
  });
}

function forOwner(path: string): OpenClawError {
  return new OpenClawError("memory.private", `${path} can be read only in the private main session`, {
    hint: "ask in the main session, or keep notes for this chat under memory/",
  });
}
