// Whether only the owner can write a file: code that the gateway loads must not be a link or writable by others.
import { lstatSync } from "node:fs";

/** The reason why it must not be loaded, to append to its name; undefined when it may be loaded. */
export function notOwn(path: string, kind: "file" | "folder"): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "does not exist";
  if (kind === "file" ? !found.isFile() : !found.isDirectory()) return `is a link, or not a regular ${kind}`;
  if (kind === "file" && found.nlink > 1) return "has more than one hard link";
  // Windows has neither owner nor mode; there the rights of the folder decide.
  if (process.getuid === undefined) return undefined;
  if ((found.mode & 0o022) !== 0) return "is writable by other users";
  return found.uid === process.getuid() || found.uid === 0 ? undefined : "belongs to another user";
}
