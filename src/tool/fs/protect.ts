// Names that file tools never write, in every spelling that a file system treats as the same.
import { protectedNames, type ProtectedName } from "../../base/protected-names.ts";

/** Folders of a bare repository (`x.git`) that git reads like those of `.git`. */
const bareRepositoryNames: ReadonlySet<string> = new Set(["config", "hooks", "head", "objects", "refs", "info"]);

/** Package managers store one copy and hard-link it into every project, so hard links are normal there. */
export const sharedFolders: ReadonlySet<string> = new Set(["node_modules", "site-packages", ".pnpm-store", ".pnpm"]);

/** What file tools may read in the state directory besides workspaces. Everything else there may contain secrets. */
export const readableState: ReadonlySet<string> = new Set(["skills", "extensions", "plugins", "media", "canvas"]);

/** Files of a workspace that every turn of its agent, or every heartbeat, starts with; folded. */
export const steeringNames: ReadonlySet<string> = new Set(
  "agents soul tools identity user heartbeat bootstrap memory boot".split(" ").map((name) => `${name}.md`),
);

/** Folders of a workspace whose files become instructions in the same way. */
export const steeringFolders: ReadonlySet<string> = new Set(["skills"]);

/** The only files of /proc that reveal nothing about a process. */
export const plainProcFiles: ReadonlySet<string> = new Set([
  "cpuinfo",
  "meminfo",
  "loadavg",
  "uptime",
  "version",
  "stat",
  "filesystems",
]);

/** A name as lenient file systems compare it: case, compatibility forms, invisible characters, trailing dots and blanks, streams. */
export function foldName(name: string): string {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase()
    .replace(/:.*$/s, "")
    .replace(/[. ]+$/, "");
  return plain === "git~1" ? ".git" : plain;
}

export function protectionOf(names: readonly string[], isBound: boolean): ProtectedName | undefined {
  // On other systems a backslash separates names too.
  const folded = names.flatMap((name) => name.split("\\")).map(foldName);
  const rule = protectedNames.find(
    ({ names: wanted, when }) => (when === "always" || isBound) && holdsRun(folded, wanted),
  );
  if (rule !== undefined) return rule;
  const bare = folded.some((name, at) => name.endsWith(".git") && bareRepositoryNames.has(folded[at + 1] ?? ""));
  return bare || makesRepository(names) ? protectedNames[0] : undefined;
}

/** This file turns any folder into a repository whose `config` git reads. No other file has this name. */
const makesRepository = (names: readonly string[]): boolean =>
  (names.at(-1) ?? "").normalize("NFKC").replaceAll(/\p{Cf}/gu, "") === "HEAD";

function holdsRun(names: readonly string[], wanted: readonly string[]): boolean {
  return names.some((_, start) => wanted.every((name, at) => names[start + at] === name));
}
