// Disables git folders that a sandboxed command made and that would start programs outside, in a way the owner can
// undo.
import { basename, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { openRoot } from "../../base/rooted-fs.ts";
import { dangerOf, keyOf, type GitFolder } from "./git-folders.ts";
import { noLinks } from "./mirror.ts";

/** The suffix that hides a git folder from git. */
const ASIDE = ".set-aside";

/** Returns one note each. Git ignores a folder without HEAD and a `.git` file under another name. */
export async function setAsideNew(
  workspace: string,
  before: readonly GitFolder[],
  find: () => Promise<readonly GitFolder[]>,
): Promise<readonly string[]> {
  const known = new Set(before.map(keyOf));
  const notes: string[] = [];
  try {
    for (const folder of await find()) {
      if (known.has(keyOf(folder))) continue;
      const danger = dangerOf(workspace, folder);
      if (danger !== undefined) notes.push(await setAside(workspace, folder, danger));
    }
  } catch (error) {
    notes.push(
      `Git folders made by this command could not all be checked (${reasonOf(error)}): check them before using git in this workspace.`,
    );
  }
  return notes;
}

async function setAside(workspace: string, { path, kind }: GitFolder, danger: string): Promise<string> {
  const name = kind === "folder" ? join(path, "HEAD") : path;
  const shown = path === "" ? "the workspace itself" : path;
  // Uses directory handles, because a running command could put a link in the way.
  const root = await openRoot({ root: workspace, check: noLinks });
  try {
    const target = await freeName(name, async (one) => (await root.stat(one).catch(() => undefined)) !== undefined);
    await root.rename(name, target);
    return `Git outside the sandbox would run programs because of ${shown}: ${danger}. It was set aside: ${basename(name)} is now ${basename(target)}.`;
  } catch (error) {
    return `Git outside the sandbox would run programs because of ${shown}: ${danger}. It could not be set aside (${reasonOf(error)}): remove it before using git there.`;
  } finally {
    root.close();
  }
}

async function freeName(name: string, isTaken: (one: string) => Promise<boolean>): Promise<string> {
  for (let count = 1; ; count += 1) {
    const one = `${name}${ASIDE}${count === 1 ? "" : `-${count}`}`;
    if (!(await isTaken(one))) return one;
  }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof OpenClawError) return error.message;
  return error instanceof Error ? error.message : String(error);
};
