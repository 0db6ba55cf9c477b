// Resolves a path below a root one name at a time: links are read and followed here, never by the kernel.
import { readlink } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { idOf, type Anchor } from "./rooted-anchor.ts";
import { errnoError, failed, fileError, refused } from "./rooted-error.ts";

/** `follow` is called for a link itself, before it is followed. */
export type Access = "read" | "write" | "follow";

export interface Visit {
  readonly access: Access;
  /** The path with all links resolved. */
  readonly real: string;
  /** Every object from the root down to this one, as far as it exists, with its identity (`dev:ino`). */
  readonly trail: readonly { readonly real: string; readonly id: string }[];
}

/** Throws to deny. Called before the object is opened or changed. */
export type PathCheck = (visit: Visit) => void;

export interface WalkRoot {
  readonly anchor: Anchor;
  /** The root as configured; may contain links. */
  readonly given: string;
  /** False only for the whole disk, which has no outside. */
  readonly bound: boolean;
  readonly outsideHint: string;
  readonly check: PathCheck;
}

export interface Place {
  readonly real: string;
  /** The folder that contains it (itself, for the root). */
  readonly folder: Anchor;
  readonly name: string;
  /** Undefined when there is no object of that name yet. */
  readonly entry: Anchor | undefined;
  /** Folders between `folder` and `name` that do not exist yet. */
  readonly missing: readonly string[];
  readonly trail: Visit["trail"];
  /** There is no object because a link is dangling. */
  readonly dangling: boolean;
  /** The path ended with a slash. */
  readonly asFolder: boolean;
  close(): void;
}

export interface WalkOptions {
  /** False acts on a link itself when it is the last name: for removing and renaming. */
  readonly followLast?: boolean;
}

const MAX_LINKS = 40;
const MAX_NAMES = 2_000;

interface Step {
  readonly name: string;
  /** It is part of a link's target, not of the requested path. */
  readonly viaLink: boolean;
}

/**
 * Throws `fs.outside`, `fs.link`, `fs.not-directory`, `fs.not-found` (only where a missing name could not be created),
 * …
 */
export async function walk(root: WalkRoot, path: string, { followLast = true }: WalkOptions = {}): Promise<Place> {
  const stack = [root.anchor];
  let steps = toSteps(namesBelow(root, path), false);
  let links = 0;
  try {
    while (steps.length > 0) {
      const [step, ...rest] = steps as [Step, ...Step[]];
      steps = rest;
      if (step.name === "..") {
        if (root.bound && links > 0 && !step.viaLink) throw dotsAfterLink(root, path);
        stepUp(root, stack, step, path);
        continue;
      }
      const child = await childOf(stack, step.name, path);
      if (child === undefined) return missingPlace(root, path, stack, [step, ...rest]);
      if (child.stats.isSymbolicLink() && (followLast || rest.length > 0)) {
        child.close();
        links += 1;
        if (links > MAX_LINKS) throw errnoError(path, "read", "ELOOP");
        steps = [...(await linkSteps(root, path, stack, step)), ...rest];
        continue;
      }
      stack.push(child);
      if (rest.length > 0 && !child.stats.isDirectory()) throw errnoError(path, "read", "ENOTDIR");
    }
    return foundPlace(path, stack);
  } catch (error) {
    closeAll(root, stack);
    throw error;
  }
}

/** The names of a path below the root. An absolute path must begin with the root, as configured or as resolved. */
function namesBelow(root: WalkRoot, path: string): string[] {
  if (path.includes("\0"))
    throw failed("fs.bad-path", path, "a path cannot contain a NUL character", "send the plain path");
  const names = namesOf(path);
  const tooLong = names.find((name) => Buffer.byteLength(name) > 255);
  if (tooLong !== undefined || names.length > MAX_NAMES) throw errnoError(path, "read", "ENAMETOOLONG");
  if (!path.startsWith("/")) return names;
  const below = partBelow(root, names);
  if (below === undefined) throw outside(root, path);
  return below;
}

function partBelow(root: WalkRoot, names: readonly string[]): string[] | undefined {
  const prefix = [root.given, root.anchor.real]
    .map((text) => namesOf(text))
    .find((start) => start.every((name, at) => names[at] === name));
  return prefix === undefined ? undefined : names.slice(prefix.length);
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function toSteps(names: readonly string[], viaLink: boolean): Step[] {
  return names.map((name) => ({ name, viaLink }));
}

function stepUp(root: WalkRoot, stack: Anchor[], step: Step, path: string): void {
  if (stack.length > 1) return stack.pop()?.close();
  if (root.bound) throw step.viaLink ? leadsOut(root, path) : outside(root, path);
}

async function childOf(stack: readonly Anchor[], name: string, path: string): Promise<Anchor | undefined> {
  try {
    return await top(stack).child(name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw fileError(path, "read", error);
  }
}

/** The target of a link as further steps; an absolute target starts again at the root, if it is below the root. */
async function linkSteps(root: WalkRoot, path: string, stack: Anchor[], step: Step): Promise<Step[]> {
  const folder = top(stack);
  root.check({ access: "follow", real: join(folder.real, step.name), trail: trailOf(stack) });
  const target = await targetOf(folder, step.name, path);
  if (target === undefined) return [step];
  if (!target.startsWith("/")) return toSteps(namesOf(target), true);
  const below = partBelow(root, namesOf(target));
  if (below === undefined) throw leadsOut(root, path);
  for (const left of stack.splice(1)) left.close();
  return toSteps(below, true);
}

/** Undefined when it is no longer a link: then the same name is resolved again. */
async function targetOf(folder: Anchor, name: string, path: string): Promise<string | undefined> {
  try {
    return await readlink(folder.at(name));
  } catch (error) {
    if (errnoOf(error) === "EINVAL" || errnoOf(error) === "ENOENT") return undefined;
    throw fileError(path, "read", error);
  }
}

function missingPlace(root: WalkRoot, path: string, stack: Anchor[], left: readonly Step[]): Place {
  const names = left.map(({ name }) => name);
  if (names.includes("..")) throw errnoError(path, "read", "ENOENT");
  const name = names.at(-1) ?? ".";
  const folder = top(stack);
  return {
    real: join(folder.real, ...names),
    folder,
    name,
    entry: undefined,
    missing: names.slice(0, -1),
    trail: trailOf(stack),
    dangling: left.some(({ viaLink }) => viaLink),
    asFolder: path.endsWith("/"),
    close: () => closeAll(root, stack),
  };
}

function foundPlace(path: string, stack: Anchor[]): Place {
  const entry = top(stack);
  if (path.endsWith("/") && !entry.stats.isDirectory()) throw errnoError(path, "read", "ENOTDIR");
  const folder = stack.at(-2) ?? entry;
  return {
    real: entry.real,
    folder,
    name: stack.length > 1 ? entry.real.slice(entry.real.lastIndexOf("/") + 1) : ".",
    entry,
    missing: [],
    trail: trailOf(stack),
    dangling: false,
    asFolder: path.endsWith("/"),
    close: () => {
      for (const held of stack.slice(1)) held.close();
    },
  };
}

function trailOf(stack: readonly Anchor[]): Visit["trail"] {
  return stack.map(({ real, stats }) => ({ real, id: idOf(stats) }));
}

function closeAll(root: WalkRoot, stack: readonly Anchor[]): void {
  for (const held of stack) if (held !== root.anchor) held.close();
}

function top(stack: readonly Anchor[]): Anchor {
  const last = stack.at(-1);
  if (last === undefined) throw new Error("the stack of a walk always contains its root");
  return last;
}

function outside(root: WalkRoot, path: string): Error {
  return refused("fs.outside", path, `is outside ${root.given}`, { hint: root.outsideHint });
}

function leadsOut(root: WalkRoot, path: string): Error {
  return refused("fs.link", path, `runs through a link that leads out of ${root.given}`, { hint: root.outsideHint });
}

function dotsAfterLink(root: WalkRoot, path: string): Error {
  return refused("fs.link", path, "goes through a link and then up again, which is ambiguous", {
    hint: `write the path from ${root.given} without ..`,
  });
}
