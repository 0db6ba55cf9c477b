// Errors of files below a root, each with a code, a message and a fix.
import { errnoOf, OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

/** Denials (not allowed) are marked by `details.refused` and name their rule; other errors (not possible) are not. */
export type RefusalCode = "fs.outside" | "fs.link" | "fs.protected" | "fs.special-file";

type ErrorCode =
  | RefusalCode
  | "fs.not-found"
  | "fs.is-directory"
  | "fs.not-directory"
  | "fs.too-large"
  | "fs.name-too-long"
  | "fs.bad-path"
  | "fs.full"
  | "fs.read-only"
  | "fs.no-permission"
  | "fs.exists"
  | "fs.changed"
  | "fs.failed";

export function refused(
  code: RefusalCode,
  path: string,
  why: string,
  facts: { hint: string; rule?: string },
): OpenClawError {
  return new OpenClawError(code, `${visible(path)}: ${why}`, {
    hint: facts.hint,
    details: { refused: true, rule: facts.rule ?? code },
  });
}

export function failed(code: Exclude<ErrorCode, RefusalCode>, path: string, why: string, hint: string): OpenClawError {
  return new OpenClawError(code, `${visible(path)}: ${why}`, { hint });
}

/** Converts a system error into an OpenClawError with a fix. OpenClawErrors are returned unchanged. */
export function fileError(path: string, doing: "read" | "write", cause: unknown): unknown {
  const errno = errnoOf(cause);
  if (cause instanceof OpenClawError || errno === undefined) return cause;
  return errnoError(path, doing, errno, cause);
}

/** The same for an errno that we found ourselves. */
export function errnoError(path: string, doing: "read" | "write", errno: string, cause?: unknown): OpenClawError {
  const [code, why, hint] = wordsFor(errno, doing);
  const refusal = code === "fs.link" || code === "fs.special-file" ? { details: { refused: true, rule: code } } : {};
  return new OpenClawError(code, `${visible(path)}: ${why}`, { cause, hint, ...refusal });
}

type Words = readonly [code: ErrorCode, why: string, hint: string];

function wordsFor(errno: string, doing: "read" | "write"): Words {
  const known = words[errno];
  if (known !== undefined) return known;
  if (errno === "EROFS" || errno === "EACCES" || errno === "EPERM" || errno === "ETXTBSY") {
    if (doing === "write")
      return [
        "fs.read-only",
        `cannot be written (${errno})`,
        "make it writable for the user the gateway runs as: chmod u+w",
      ];
    return [
      "fs.no-permission",
      `cannot be read (${errno})`,
      "give the user the gateway runs as permission to read it: chmod u+r",
    ];
  }
  return [
    "fs.failed",
    `could not be ${doing === "read" ? "read" : "written"} (${errno})`,
    "check the disk and: openclaw logs",
  ];
}

const words: Readonly<Record<string, Words>> = {
  ENOENT: ["fs.not-found", "there is no such file or folder", "read the parent folder to see what exists"],
  ENOTDIR: [
    "fs.not-directory",
    "a file exists where a folder is needed",
    "use another folder, or remove that file first",
  ],
  EISDIR: ["fs.is-directory", "is a folder", "name a file inside it"],
  ENOTEMPTY: ["fs.is-directory", "is a folder", "name a file inside it"],
  ENAMETOOLONG: [
    "fs.name-too-long",
    "the name is longer than the file system allows (255 bytes)",
    "use a shorter name",
  ],
  EINVAL: ["fs.bad-path", "the file system does not allow this name", "use a plain name"],
  EILSEQ: ["fs.bad-path", "the file system does not allow this name", "use a plain name"],
  ELOOP: ["fs.link", "links form a loop", "name the file itself"],
  ENXIO: ["fs.special-file", "is a device, pipe or socket, not a file", "name a regular file"],
  ENODEV: ["fs.special-file", "is a device, pipe or socket, not a file", "name a regular file"],
  ENOSPC: ["fs.full", "no space is left on that disk; nothing was changed", "free some space on that disk, then retry"],
  EDQUOT: ["fs.full", "the disk quota is used up; nothing was changed", "free some space on that disk, then retry"],
  EFBIG: ["fs.full", "the file system does not support files this large; nothing was changed", "write a smaller file"],
};
