// Copies host files into a sandbox's workspace through directory handles, rejecting links and hard links on both sides.
import { OpenClawError } from "../../core/error.ts";
import { refused } from "../../base/rooted-error.ts";
import { openRoot, type PathCheck, type Root } from "../../base/rooted-fs.ts";

export interface Mirror {
  /** The host folder; an agent may have written its content. */
  readonly from: string;
  /** The sandbox's workspace; commands inside control its content. */
  readonly to: string;
  /** Relative to both folders. */
  readonly names: readonly string[];
  /** `missing` keeps an existing file; `always` overwrites it. */
  readonly put: "missing" | "always";
}

export interface Mirrored {
  readonly copied: readonly string[];
  /**
   * Skipped files with the reason: links, hard links, special files, too large. Files missing on the host are not
   * listed.
   */
  readonly passedOver: readonly { readonly name: string; readonly why: string }[];
}

const MAX_FILE_BYTES = 4_000_000;

/** Never throws for a bad file, which must not prevent a sandbox from starting. */
export async function mirrorFiles({ from, to, names, put }: Mirror): Promise<Mirrored> {
  const copied: string[] = [];
  const passedOver: { name: string; why: string }[] = [];
  const source = await openFolder(from);
  const target = source === undefined ? undefined : await openFolder(to);
  try {
    if (source === undefined || target === undefined) return { copied, passedOver };
    for (const name of names) {
      const why = await copyOne(source, target, name, put);
      if (why === undefined) copied.push(name);
      else if (why !== "absent" && why !== "present") passedOver.push({ name, why });
    }
    return { copied, passedOver };
  } finally {
    source?.close();
    target?.close();
  }
}

async function openFolder(root: string): Promise<Root | undefined> {
  try {
    return await openRoot({ root, check: noLinks });
  } catch (error) {
    if (error instanceof OpenClawError && error.code === "fs.not-found") return undefined;
    throw error;
  }
}

/** Rejects links, because a link could be replaced by one that leads elsewhere. */
export const noLinks: PathCheck = ({ access, real }) => {
  if (access === "follow") throw refused("fs.link", real, "is a link", { hint: "put the file itself in its place" });
};

/** Undefined when the file was copied. */
async function copyOne(source: Root, target: Root, name: string, put: Mirror["put"]): Promise<string | undefined> {
  try {
    const { bytes } = await source.read(name, { maxBytes: MAX_FILE_BYTES });
    await target.write(name, bytes, { mode: 0o644, mustBeNew: put === "missing" });
    return undefined;
  } catch (error) {
    if (!(error instanceof OpenClawError) || !error.code.startsWith("fs.")) throw error;
    if (error.code === "fs.not-found") return "absent";
    return error.code === "fs.exists" ? "present" : error.message;
  }
}
