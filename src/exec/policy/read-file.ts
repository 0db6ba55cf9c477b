// Reads an approvals file completely, or rejects pipes, links and files that are too large.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

import { errnoOf, OpenClawError } from "../../core/error.ts";

/** Far larger than any real file; the file is read completely for every command. */
const MAX_FILE_BYTES = 4_000_000;

/** Undefined when the file does not exist. Throws `approvals.unreadable`. */
export function readIfThere(path: string): string | undefined {
  let fd: number;
  try {
    // A pipe must not block the gateway, and a link could lead to a file that an agent can write.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP")
      throw new OpenClawError("approvals.unreadable", `${path} is a symbolic link`, {
        hint: `replace it with the file itself at ${path}; until then commands on this host are blocked`,
      });
    throw new OpenClawError("approvals.unreadable", `cannot read ${path}`, { cause: error, hint: `chmod 600 ${path}` });
  }
  try {
    const stats = fstatSync(fd);
    if (stats.isFile() && stats.size <= MAX_FILE_BYTES) return readFileSync(fd, "utf8");
    const what = stats.isFile() ? `is larger than ${MAX_FILE_BYTES} bytes` : "is not a file";
    throw new OpenClawError("approvals.unreadable", `${path} ${what}`, {
      hint: `correct ${path}; until then commands on this host are blocked`,
    });
  } finally {
    closeSync(fd);
  }
}
