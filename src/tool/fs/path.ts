// Parses paths as models send them: home, leading @, file URLs, odd whitespace, and spellings that hide an escape.
import { fileURLToPath } from "node:url";

import { ToolError } from "../../core/error.ts";
import { visible, withoutUnseen } from "../../core/visible.ts";
import { failed, refused } from "../../base/rooted-error.ts";

export interface PathContext {
  /** Relative paths start here. */
  readonly workspace: string;
  readonly home: string;
  /** Paths must stay inside the workspace. */
  readonly bound: boolean;
  readonly outsideHint: string;
  /** What the workspace is called inside the sandbox, for sandboxed calls. */
  readonly sandboxed?: string;
}

/** One reading of a path, absolute. With `when`, it is used only if that path exists. */
export interface Reading {
  readonly path: string;
  readonly when?: string;
}

const MAX_CHARS = 4096;
const oddBlank = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;

/** The readings in order of preference; the last one has no condition. Throws `fs.bad-path`, `fs.name-too-long` or, when bound, `fs.outside` for paths that cannot lie inside. */
export function parsePath(raw: string, context: PathContext): Reading[] {
  requireSound(raw);
  const bare = raw.startsWith("@") && raw.length > 1 ? raw.slice(1) : raw;
  for (const text of new Set([raw, bare])) requireHonest(text, context);
  const place = absolute(bare, context);
  const clean = withoutUnseen(place.replace(oddBlank, " "));
  // Existing files with an odd name stay reachable; new ones get the plain name.
  const literal: Reading[] = [];
  if (bare !== raw) literal.push({ path: join(context, raw), when: join(context, raw.split("/")[0] ?? raw) });
  if (clean !== place) literal.push({ path: place, when: place });
  return [...literal, { path: clean }];
}

/** For intents and titles: the most likely reading. Never throws and never reads the disk. */
export function likelyPath(raw: unknown, context: PathContext): string[] {
  if (typeof raw !== "string" || raw.trim() === "") return [];
  try {
    return [parsePath(raw, context).at(-1)?.path ?? raw];
  } catch (error) {
    if (error instanceof Error && "code" in error) return [visible(raw)];
    throw error;
  }
}

function requireSound(raw: string): void {
  if (raw.includes("\0"))
    throw failed("fs.bad-path", raw, "a path cannot contain a NUL character", "send the plain path");
  if (!raw.isWellFormed())
    throw failed(
      "fs.bad-path",
      raw,
      "a path cannot contain half a character (a lone surrogate)",
      "send the plain path",
    );
  if (withoutUnseen(raw).trim() === "") throw failed("fs.bad-path", raw, "the path is empty", "name a file");
  if (raw.length > MAX_CHARS)
    throw failed("fs.name-too-long", raw, `the path is longer than ${MAX_CHARS} characters`, "use a shorter path");
}

/** Rejects network shares in any mode and, when bound, every spelling that another program could read as an escape. */
function requireHonest(text: string, context: PathContext): void {
  const host = fileUrl(text)?.hostname ?? "";
  if (text.startsWith("\\\\") || (host !== "" && host !== "localhost")) {
    throw refused("fs.outside", text, "names another computer", { hint: "use a path on this one", rule: "fs.remote" });
  }
  if (!context.bound || !spellings(text).some((spelled) => leaves(spelled, text))) return;
  throw refused("fs.outside", text, `could be read as a path outside ${context.workspace}`, {
    hint: context.outsideHint,
  });
}

function fileUrl(text: string): URL | undefined {
  return /^file:/i.test(text) ? (URL.parse(text) ?? undefined) : undefined;
}

/** How other programs may read it: percent-decoded (twice), Windows separators, compatibility and invisible characters. */
function spellings(text: string): string[] {
  const found = new Set([text]);
  for (let round = 0; round < 3; round += 1) {
    for (const known of Array.from(found)) {
      found
        .add(percentDecoded(known))
        .add(known.replaceAll("\\", "/"))
        .add(known.normalize("NFKC"))
        .add(withoutUnseen(known));
    }
  }
  return [...found];
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Another spelling of a relative path can start at the root; one of an absolute path can only hide steps up. */
function leaves(spelled: string, text: string): boolean {
  if (/^[a-z]:\//i.test(spelled)) return true;
  if (spelled === text) return false;
  if (text.startsWith("/")) return stepsUp(spelled) > stepsUp(text);
  return spelled.startsWith("/") || climbsOut(spelled);
}

// Windows drops blanks at the end of a name.
const isUp = (name: string): boolean => name.trimEnd() === "..";

function stepsUp(path: string): number {
  return path.split("/").filter(isUp).length;
}

function climbsOut(path: string): boolean {
  let depth = 0;
  for (const name of path.split("/")) {
    if (isUp(name)) depth -= 1;
    else if (name.trim() !== "" && name !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function absolute(text: string, context: PathContext): string {
  const url = fileUrl(text);
  if (url !== undefined) return inBox(fromUrl(url, text), context);
  if (text === "~") return context.home;
  return inBox(join(context, text.startsWith("~/") ? `${context.home}/${text.slice(2)}` : text), context);
}

function fromUrl(url: URL, text: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new ToolError("fs.bad-path", `${visible(text)}: is not a file URL`, { cause, hint: "send the plain path" });
  }
}

/** A sandboxed agent uses the name that its workspace has inside the sandbox. */
function inBox(path: string, { workspace, sandboxed }: PathContext): string {
  if (sandboxed === undefined || !(path === sandboxed || path.startsWith(`${sandboxed}/`))) return path;
  return `${workspace}${path.slice(sandboxed.length)}`;
}

/** Not node:path's join: `..` must stay, because after a link it means the parent of the link's target. */
function join({ workspace }: PathContext, path: string): string {
  return path.startsWith("/") ? path : `${workspace}/${path}`;
}
