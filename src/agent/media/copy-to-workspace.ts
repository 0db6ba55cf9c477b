// Copies an inbound file into the workspace of a sandbox, which does not see the media store.
import { mkdir } from "node:fs/promises";
import { basename } from "node:path";

import { openRoot, type Root } from "../../base/rooted-fs.ts";
import { lifetimeMs, ownName, type MediaStore } from "../../media/store.ts";

const FOLDER = "media/inbound";
const MAX_LISTED = 10_000;

/** The path in the workspace. A link that a command put in its place is not followed out of it. */
export async function copyToWorkspace(
  store: MediaStore,
  path: string,
  workspace: string,
  now: number,
): Promise<string> {
  const copy = `${FOLDER}/${basename(path)}`;
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  const root = await openRoot({ root: workspace });
  try {
    if ((await root.stat(copy)) !== undefined) return copy;
    const { handle } = await store.open(path);
    try {
      await root.write(copy, await handle.readFile(), { mode: 0o600 });
    } finally {
      await handle.close();
    }
    await removeOld(root, now);
    return copy;
  } finally {
    root.close();
  }
}

/** Copies live as long as the files they were made from. */
async function removeOld(root: Root, now: number): Promise<void> {
  const { entries } = await root.list(FOLDER, MAX_LISTED);
  for (const { name } of entries.filter((entry) => entry.kind === "file" && ownName.test(entry.name))) {
    const facts = await root.stat(`${FOLDER}/${name}`);
    if (facts !== undefined && now - facts.modifiedMs > lifetimeMs.inbound) await root.remove(`${FOLDER}/${name}`);
  }
}
