// What can go wrong with a file below a root, each with a code, a sentence and the way out.
import { errnoOf, OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

/** Refusals (someone may not) are told apart from errors (it cannot be done) by `details.refused` and name their rule. */
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

/** A system error, named so that people know what to do. What is already ours passes through. */
export function fileError(path: string, doing: "read" | "write", cause: unknown): unknown {
  const errno = errnoOf(cause);
  if (cause instanceof OpenClawError || errno === undefined) return cause;
  return errnoError(path, doing, errno, cause);
}

/** The same for an errno we found ourselves. */
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
        `may not be written (${errno})`,
        "make it writable for the user the gateway runs as: chmod u+w",
      ];
    return [
      "fs.no-permission",
      `may not be read (${errno})`,
      "give the user the gateway runs as permission to read it: chmod u+r",
    ];
  }
  return [
    "fs.failed",
    `could not be ${doing === "read" ? "read" : "written"} (${errno})`,
    "look at the disk and at: openclaw logs",
  ];
}

const words: Readonly<Record<string, Words>> = {
  ENOENT: ["fs.not-found", "there is no such file or folder", "look at what is there first: read the folder above it"],
  ENOTDIR: [
    "fs.not-directory",
    "a file stands where a folder is needed",
    "use another folder, or remove that file first",
  ],
  EISDIR: ["fs.is-directory", "is a folder", "name a file inside it"],
  ENOTEMPTY: ["fs.is-directory", "is a folder", "name a file inside it"],
  ENAMETOOLONG: ["fs.name-too-long", "the name is longer than the disk allows (255 bytes)", "use a shorter name"],
  EINVAL: ["fs.bad-path", "the disk does not allow this name", "use a plain name"],
  EILSEQ: ["fs.bad-path", "the disk does not allow this name", "use a plain name"],
  ELOOP: ["fs.link", "links lead in a circle", "name the file itself"],
  ENXIO: ["fs.special-file", "is a device, pipe or socket, not a file", "name a regular file"],
  ENODEV: ["fs.special-file", "is a device, pipe or socket, not a file", "name a regular file"],
  ENOSPC: ["fs.full", "no space is left on that disk; nothing was changed", "free some space on that disk, then retry"],
  EDQUOT: ["fs.full", "the disk quota is used up; nothing was changed", "free some space on that disk, then retry"],
  EFBIG: ["fs.full", "the disk does not take files this large; nothing was changed", "write a smaller file"],
};
