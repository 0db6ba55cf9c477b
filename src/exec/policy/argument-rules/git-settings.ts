// Inspects the repository that a git command would use: settings that start programs, and installed hooks.
import { dirname, join, resolve } from "node:path";

import { smallContent } from "../content.ts";
import { identityOf, isAbsent, statOf } from "../programs.ts";
import { namesIn } from "../wildcards.ts";
import { linkedPaths } from "./git-links.ts";

export interface GitSettings {
  /** A setting that is not known to be harmless. */
  readonly problem?: string;
  readonly hooks: readonly string[];
  /** Names of remotes and branches that refer to a repository on this machine. */
  readonly local: readonly string[];
  /** Names of all remotes. */
  readonly remotes: readonly string[];
  /** The files that were read; they decide what git does. */
  readonly files: readonly string[];
}

/** Settings that only change appearance or storage. */
const harmless =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath|longpaths|protecthfs|protectntfs|sharedrepository|compression|untrackedcache|sparsecheckout|sparsecheckoutcone|commentchar|preloadindex|multipackindex|commitgraph)|remote\..*\.(?:url|pushurl|fetch|push|tagopt|prune|partialclonefilter|promisor|mirror|gh-resolved)|branch\..*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)|branch\.(?:autosetuprebase|autosetupmerge|sort)|user\.(?:name|email|useconfigonly|signingkey)|author\..*|committer\..*|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|prunetags|writecommitgraph|parallel)|merge\.(?:conflictstyle|ff|log|renamelimit|directoryrenames)|rebase\.(?:autosquash|autostash|updaterefs)|rerere\..*|color\..*|diff\.(?:algorithm|renames|renamelimit|mnemonicprefix|colormoved|context|noprefix|submodule)|log\..*|status\..*|commit\.(?:verbose|gpgsign)|tag\.(?:sort|gpgsign)|gc\.(?!recentobjectshook$).*|pack\..*|index\..*|feature\..*|extensions\.(?:objectformat|partialclone|worktreeconfig|preciousobjects|refstorage)|submodule\..*\.(?:url|active|branch|ignore)|submodule\.active|advice\..*|column\..*|blame\..*|stash\..*|versionsort\..*|http\..*\.(?:sslverify|postbuffer)|http\.(?:postbuffer|sslverify|version)|lfs\.repositoryformatversion|maintenance\.auto|gui\..*)$/;

/** Enters linked repositories as git does, down to a few levels. */
export function gitSettings(cwd: string, depth = 3): GitSettings {
  const found = repositoryOf(cwd);
  if (found === undefined) return none;
  if (found === "unclear") return { ...none, problem: "its .git does not refer to a plain repository" };
  const files = ["config", "config.worktree"]
    .map((name) => join(found.shared, name))
    .concat(join(found.own, "config.worktree"));
  const present = [...new Set(files)].filter((path) => identityOf(path, "file") !== undefined);
  const read = present.map((path) => readSettings(readText(path)));
  const settings = read.flatMap((one) => one.settings);
  const problem = read.find((one) => one.problem !== undefined)?.problem ?? linkedProblem(found, settings, depth);
  return {
    ...(problem === undefined ? {} : { problem }),
    hooks: hooksIn(join(found.shared, "hooks")),
    files: present,
    ...remotesIn(settings),
  };
}

const none: GitSettings = { hooks: [], files: [], local: [], remotes: [] };

/** One setting as written: section in lower case, subsection unchanged, name in lower case. */
interface Setting {
  readonly key: string;
  readonly value: string;
}

function remotesIn(settings: readonly Setting[]): Pick<GitSettings, "local" | "remotes"> {
  const named = settings.flatMap(({ key, value }) => {
    const name = /^remote\.(.+)\.(?:url|pushurl)$/.exec(key)?.[1];
    return name === undefined ? [] : [{ name, value }];
  });
  const remotes = new Set(named.map(({ name }) => name));
  const branches = settings.flatMap(({ key, value }) =>
    /^branch\..+\.(?:remote|pushremote)$/.test(key) && !remotes.has(value) && value !== "." ? [value] : [],
  );
  const local = named.filter(({ value }) => isLocalAddress(value)).map(({ name }) => name);
  return { remotes: [...remotes], local: [...local, ...branches.filter(isLocalAddress)] };
}

/** Neither `scheme://…` nor `host:path`. */
export const isLocalAddress = (address: string): boolean =>
  /^file:/i.test(address) || (!address.includes("://") && !/^[^/]+:/.test(address));

function linkedProblem(repository: Repository, settings: readonly Setting[], depth: number): string | undefined {
  if (repository.folder === undefined) return undefined;
  const isLong = settings.some(({ key, value }) => key === "extensions.objectformat" && /^sha256$/i.test(value));
  const links = linkedPaths(repository.own, isLong ? 32 : 20);
  if (links === undefined) return "its index cannot be read for linked repositories";
  const folder = repository.folder;
  const present = links.map((path) => join(folder, path)).filter((path) => statOf(join(path, ".git")) !== undefined);
  if (present.length > 0 && depth === 0) return "its repositories are nested too deeply";
  return present.map((path) => problemOfLinked(path, depth)).find((problem) => problem !== undefined);
}

/** git status and git fetch enter it and run its hooks. */
function problemOfLinked(path: string, depth: number): string | undefined {
  const { problem, hooks } = gitSettings(path, depth - 1);
  return problem ?? (hooks.length === 0 ? undefined : `hooks of a linked repository (${hooks.slice(0, 3).join(", ")})`);
}

interface Repository {
  readonly own: string;
  /** The same folder, unless this is a linked worktree. */
  readonly shared: string;
  /** The working tree; a bare repository has none. */
  readonly folder?: string;
}

/** Searches upward like git: a .git folder, a .git file that names one, or a folder that is itself a repository. */
function repositoryOf(cwd: string): Repository | "unclear" | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const inner = join(folder, ".git");
    const stats = statOf(inner);
    // Git skips a .git that is not a repository and may then use the folder itself as one.
    if (stats?.isDirectory() === true) return hasHead(inner) ? withShared(inner, folder) : "unclear";
    if (stats?.isFile() === true) return fromPointer(inner, folder);
    if (hasHead(folder) && ["objects", "commondir"].some((name) => statOf(join(folder, name)) !== undefined))
      return withShared(folder);
    if (folder === dirname(folder)) return undefined;
  }
}

/** A dangling link counts as a HEAD too. */
const hasHead = (folder: string): boolean => !isAbsent(join(folder, "HEAD"));

function fromPointer(file: string, folder: string): Repository | "unclear" {
  const target = /^gitdir: (.+?)\n*$/s.exec(readText(file))?.[1];
  if (target === undefined) return "unclear";
  const own = resolve(folder, target);
  return statOf(own)?.isDirectory() === true ? withShared(own, folder) : "unclear";
}

function withShared(own: string, folder?: string): Repository {
  return { own, shared: sharedFolder(own), ...(folder === undefined ? {} : { folder }) };
}

/** The folder with the settings and hooks of a git folder: usually itself. */
export function sharedFolder(own: string): string {
  const pointer = join(own, "commondir");
  return identityOf(pointer, "file") === undefined ? own : resolve(own, readText(pointer).trim());
}

interface ReadSettings {
  readonly settings: readonly Setting[];
  /** The first setting that is not known to be harmless, or a line that cannot be parsed. */
  readonly problem?: string;
}

function readSettings(text: string): ReadSettings {
  const settings: Setting[] = [];
  let section = "";
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    if (line.endsWith("\\")) return { settings, problem: "a setting that continues over several lines" };
    const head = /^\[([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]$/.exec(line);
    if (head !== null) {
      section = head[2] === undefined ? (head[1] ?? "").toLowerCase() : `${(head[1] ?? "").toLowerCase()}.${head[2]}`;
      continue;
    }
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line);
    if (setting === null) return { settings, problem: "a line that is not a plain setting" };
    const key = `${section}.${(setting[1] ?? "").toLowerCase()}`;
    if (!harmless.test(key) && !isBoolean(key, setting[2])) return { settings, problem: key };
    if (leadsToHelper(key, setting[2] ?? "")) return { settings, problem: `${key} (a transport helper)` };
    settings.push({ key, value: setting[2] ?? "" });
  }
  return { settings };
}

/** True when this setting, given for one command or stored for later ones, is known to start no program. */
export const isPlainSetting = (name: string, value: string | undefined): boolean => {
  const key = /^([A-Za-z0-9-]+)\.(?:(.+)\.)?([A-Za-z][A-Za-z0-9-]*)$/.exec(name);
  if (key === null) return false;
  const [, section = "", middle, last = ""] = key;
  const written = [section.toLowerCase(), ...(middle === undefined ? [] : [middle]), last.toLowerCase()].join(".");
  return (harmless.test(written) || isBoolean(written, value)) && !leadsToHelper(written, value ?? "");
};

/** A branch may name an address in place of a remote. Quotes and escapes would be removed by git, so they are rejected. */
const leadsToHelper = (key: string, value: string): boolean =>
  /^(?:remote|branch|submodule)\./.test(key) && (needsHelper(value) || /["\\]/.test(value));

/** `x::y` and `x://y` start a program git-remote-x, except for git's built-in transports. */
export const needsHelper = (address: string): boolean =>
  address.includes("::") || /^(?!(?:https?|ssh|git|file|git\+ssh|ssh\+git):)[A-Za-z0-9+.-]+:\/\//.test(address);

/** core.fsmonitor is a program unless its value is a boolean. */
const isBoolean = (key: string, value: string | undefined): boolean =>
  key === "core.fsmonitor" && /^(?:true|false|yes|no|on|off|0|1)$/i.test(value ?? "true");

function hooksIn(folder: string): string[] {
  return namesIn(folder).filter((name) => !name.endsWith(".sample") && statOf(join(folder, name))?.isFile() === true);
}

/** Unreadable text is not a plain setting, so it is reported as a problem. */
const readText = (path: string): string => smallContent(path, 1024 * 1024)?.toString("utf8") ?? "?";
