// Whether only the owner can write a file: code that the gateway loads must not be a link or writable by others.
import { lstatSync } from "node:fs";

/** The reason why it must not be loaded, to follow its name; undefined when it may. */
export function notOwn(path: string, kind: "file" | "folder"): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "is not there";
  if (kind === "file" ? !found.isFile() : !found.isDirectory()) return `is a link, or no plain ${kind}`;
  if (kind === "file" && found.nlink > 1) return "has another name somewhere else (a hard link)";
  // Windows has neither; there the rights of the folder decide.
  if (process.getuid === undefined) return undefined;
  if ((found.mode & 0o022) !== 0) return "may be written by other users";
  return found.uid === process.getuid() || found.uid === 0 ? undefined : "belongs to another user";
}
