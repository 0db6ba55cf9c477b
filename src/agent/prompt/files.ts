// Reads the workspace files of the prompt, each limited in size; missing and blank files are left out.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { Lru } from "../../base/lru.ts";
import { cutText } from "../result.ts";

export interface BootstrapFile {
  readonly name: string;
  readonly text: string;
  /** Size of the file before it was cut. */
  readonly rawChars?: number;
}

export interface BootstrapRequest {
  readonly workspace: string;
  readonly mode: "full" | "minimal";
  /** MEMORY.md is for the main private session alone. */
  readonly isMain: boolean;
  readonly maxChars: number;
}

const all = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"] as const;
const forSubagents: ReadonlySet<string> = new Set(["AGENTS.md", "TOOLS.md"]);
const MAX_FILE_BYTES = 4_000_000;

export type ReadBootstrap = (request: BootstrapRequest) => readonly BootstrapFile[];

/** Reads a file again only when it changed. */
export function createBootstrapReader(): ReadBootstrap {
  const known = new Lru<{ readonly mark: string; readonly text: string }>(256);
  const read = (path: string): string | undefined => {
    const mark = markOf(path);
    if (mark === undefined) return undefined;
    const cached = known.get(path);
    if (cached?.mark === mark) return cached.text;
    const text = readFileSync(path, "utf8")
      .replace(/^\uFEFF/, "")
      .toWellFormed()
      .trim();
    known.set(path, { mark, text });
    return text;
  };
  return ({ workspace, mode, isMain, maxChars }) => {
    const names = mode === "minimal" ? all.filter((name) => forSubagents.has(name)) : all;
    const wanted = names.map((name) => ({ name: name as string, text: read(join(workspace, name)) }));
    if (mode === "full" && isMain)
      wanted.push({
        name: "MEMORY.md",
        text: read(join(workspace, "MEMORY.md")) ?? read(join(workspace, "memory.md")),
      });
    return wanted.flatMap(({ name, text }) =>
      text === undefined || text === ""
        ? []
        : [{ name, text: cutText(text, maxChars, () => ` Read the whole file: read ${name}.`), rawChars: text.length }],
    );
  };
}

/** Undefined for links, which could lead anywhere, other special files, and very large files. */
function markOf(path: string): string | undefined {
  try {
    const { size, mtimeMs, ino } = lstatSync(path);
    return lstatSync(path).isFile() && size <= MAX_FILE_BYTES ? `${ino}:${size}:${mtimeMs}` : undefined;
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
