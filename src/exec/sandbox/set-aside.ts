// Git folders that a boxed command made and that would start programs outside are made useless to git, and can be made usable again.
import { basename, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { openRoot } from "../../base/rooted-fs.ts";
import { dangerOf, keyOf, type GitFolder } from "./git-folders.ts";
import { noLinks } from "./mirror.ts";

/** The end of the name that makes a git folder one for nobody. */
const ASIDE = ".set-aside";

/** One sentence for each. A git folder without a HEAD is none; a file `.git` under another name neither. */
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
      `Git folders made by this command could not all be checked (${reasonOf(error)}): look before using git in this workspace.`,
    );
  }
  return notes;
}

async function setAside(workspace: string, { path, kind }: GitFolder, danger: string): Promise<string> {
  const name = kind === "folder" ? join(path, "HEAD") : path;
  const shown = path === "" ? "the workspace itself" : path;
  // By folder handles: a command that still runs could put a link in the way.
  const root = await openRoot({ root: workspace, guard: noLinks });
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
