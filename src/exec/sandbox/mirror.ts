// Copies files of the host into a sandbox's workspace: by folder handles, through no link and no second name, on either side.
import { OpenClawError } from "../../core/error.ts";
import { refused } from "../../base/rooted-error.ts";
import { openRoot, type Guard, type Root } from "../../base/rooted-fs.ts";

export interface Mirror {
  /** Folder on the host; what is in it may have been put there by an agent. */
  readonly from: string;
  /** The sandbox's workspace: everything in it is in the hands of whoever runs inside. */
  readonly to: string;
  /** Relative to both. */
  readonly names: readonly string[];
  /** `missing` leaves alone what has the name already; `always` puts the host's content over it. */
  readonly put: "missing" | "always";
}

export interface Mirrored {
  readonly copied: readonly string[];
  /** Not copied, and why: links, several names, special files, too large. What the host does not have is not listed. */
  readonly passedOver: readonly { readonly name: string; readonly why: string }[];
}

const MAX_FILE_BYTES = 4_000_000;

/** Never throws for what lies there: one bad name must not keep a sandbox from starting. */
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
    return await openRoot({ root, guard: noLinks });
  } catch (error) {
    if (error instanceof OpenClawError && error.code === "fs.not-found") return undefined;
    throw error;
  }
}

/** A link may be swapped for one that leads elsewhere; none is needed here. */
export const noLinks: Guard = ({ access, real }) => {
  if (access === "follow") throw refused("fs.link", real, "is a link", { hint: "put the file itself in its place" });
};

/** Undefined when it was copied. */
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
