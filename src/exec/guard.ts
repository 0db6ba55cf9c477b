// The guard: a command that starts by a rule alone, without approval, runs where the gateway's files do not exist.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { OpenClawError, ToolError } from "../core/error.ts";
import { statOf } from "./policy/programs.ts";
import type { HostLaunch } from "./sandbox.ts";
import { canonicalPath, isWithin } from "./sandbox/hidden-paths.ts";
import type { Works } from "./sandbox/spec.ts";
import { isRunnable } from "./find-program.ts";
import { buildNamespace, type Namespace, type Programs } from "./guard/namespace.ts";
import type { GuardedPaths } from "./guard/guarded-paths.ts";
import { SANDBOX_EXEC, underSeatbelt } from "./guard/seatbelt.ts";
import { pathRuleOptions } from "./guard/path-rule-options.ts";
import { ruleFor, pathRulesFor, type PathRule, type PathRules } from "./guard/path-rules.ts";

export interface Guard {
  /** Tests by a real start whether these paths can be hidden from commands on this machine. */
  works(paths: GuardedPaths): Promise<Works>;
  /** Wraps a launch so that it runs inside. Throws `exec.bad-folder` and `exec.hidden-program` for hidden paths. */
  wrap(launch: HostLaunch, paths: GuardedPaths): Promise<HostLaunch>;
  close(): void;
}

type Refusal = Extract<Works, { works: false }>;

export function createGuard(platform: NodeJS.Platform = process.platform): Guard {
  const namespaces = createNamespaces();
  const isMac = platform === "darwin";
  return {
    async works(paths) {
      if (isMac) return isRunnable(SANDBOX_EXEC) ? worksOf(pathRulesFor(paths, pathRuleOptions(""))) : noSeatbelt;
      if (platform !== "linux") return unsupported(platform);
      const pathRules = pathRulesFor(paths, pathRuleOptions(""));
      const namespace = pathRules.works ? await namespaces.of(pathRules) : pathRules;
      return "reason" in namespace ? namespace : { works: true };
    },
    async wrap(launch, paths) {
      const pathRules = pathRulesFor(paths, pathRuleOptions(launch.argv[0] ?? ""));
      if (!pathRules.works) throw cannotHide(pathRules);
      rejectHidden(launch, pathRules.rules);
      if (isMac) return underSeatbelt(launch, pathRules.rules);
      const namespace = await namespaces.of(pathRules);
      if ("reason" in namespace) throw cannotHide(namespace);
      return namespace.enter(launch);
    },
    close: () => namespaces.close(),
  };
}

/** Throws for a folder of the gateway outside the workspace, also for approved commands. Links are resolved. */
export function rejectGatewayFolder(
  cwd: string,
  { state, workspace }: Pick<GuardedPaths, "state" | "workspace">,
): void {
  const [real, own] = [canonicalPath(cwd), canonicalPath(state)];
  const work = workspace === undefined ? undefined : canonicalPath(workspace);
  if (!isWithin(real, own) || (work !== undefined && isWithin(work, own) && isWithin(real, work))) return;
  throw hiddenFolder(cwd);
}

const hiddenFolder = (cwd: string): ToolError =>
  new ToolError("exec.bad-folder", `commands cannot run in ${cwd}: the folder belongs to the gateway`, {
    hint: "omit workdir to use the workspace, or choose a folder outside the gateway's own",
    details: { refused: true },
  });

const cannotHide = ({ reason, fix }: Refusal): OpenClawError =>
  new OpenClawError(
    "exec.unguarded",
    `not started: the gateway's own files cannot be hidden from the command (${reason})`,
    {
      hint: fix,
    },
  );

function rejectHidden({ argv, cwd }: HostLaunch, rules: readonly PathRule[]): void {
  if (ruleFor(canonicalPath(cwd), rules)?.access === "hide") throw hiddenFolder(cwd);
  const program = argv[0] ?? "";
  if (ruleFor(canonicalPath(program), rules)?.access !== "hide") return;
  throw new OpenClawError(
    "exec.hidden-program",
    `${program} is among the gateway's own files, which are hidden from commands`,
    {
      hint: "move it to the workspace or to a folder outside the gateway's own",
    },
  );
}

const worksOf = (pathRules: PathRules | Refusal): Works => (pathRules.works ? { works: true } : pathRules);
const noSeatbelt: Refusal = { works: false, reason: `${SANDBOX_EXEC} is missing`, fix: "update macOS" };
const unsupported = (platform: string): Refusal => ({
  works: false,
  reason: `hiding files from a command is not supported on ${platform}`,
  fix: "run the gateway on Linux (WSL 2 on Windows) with bubblewrap installed, or on macOS",
});

const MAX_NAMESPACES = 32;
/** Long enough for a command to open a path it was given, even on a busy machine. */
const GRACE_MS = 60_000;

function createNamespaces(): { of(pathRules: PathRules): Promise<Namespace | Refusal>; close(): void } {
  const readOnly = new Map<string, Promise<Namespace | Refusal>>();
  const leaving = new Map<Namespace, NodeJS.Timeout>();
  let programs: Promise<Programs | Refusal> | undefined;

  const build = async (pathRules: PathRules): Promise<Namespace | Refusal> => {
    const found = await (programs ??= findPrograms());
    return "reason" in found ? found : buildNamespace(pathRules, found);
  };
  const retire = async (key: string): Promise<void> => {
    const namespace = await readOnly.get(key);
    readOnly.delete(key);
    if (namespace === undefined || "reason" in namespace) return;
    const timer = setTimeout(() => {
      leaving.delete(namespace);
      namespace.close();
    }, GRACE_MS);
    leaving.set(namespace, timer.unref());
  };
  return {
    async of(pathRules) {
      // The key includes inodes, because a replaced folder is no longer hidden by the old namespace.
      const key = JSON.stringify(pathRules.rules.map((rule) => [rule, identityOf(rule.path)]));
      const known = readOnly.get(key) ?? build(pathRules);
      readOnly.delete(key);
      readOnly.set(key, known);
      const [oldest] = readOnly.keys();
      if (readOnly.size > MAX_NAMESPACES && oldest !== undefined) void retire(oldest);
      const answer = await known.catch((error: unknown) => {
        readOnly.delete(key);
        throw error;
      });
      // Not cached: the owner may install the missing program before the next command.
      if ("reason" in answer) {
        readOnly.delete(key);
        programs = undefined;
      }
      return answer;
    },
    close() {
      for (const [namespace, timer] of leaving) {
        clearTimeout(timer);
        namespace.close();
      }
      for (const known of readOnly.values())
        void known.then((namespace) => ("reason" in namespace ? undefined : namespace.close()));
      readOnly.clear();
      leaving.clear();
    },
  };
}

function identityOf(path: string): string {
  const found = statOf(path);
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}

/** Folders where only the administrator installs programs. */
const folders = "/usr/bin /bin /usr/sbin /sbin /usr/local/bin /run/current-system/sw/bin".split(" ");

async function findPrograms(): Promise<Programs | Refusal> {
  const find = (name: string): string | undefined => folders.map((folder) => `${folder}/${name}`).find(isRunnable);
  const [bwrap, nsenter, setpriv] = [find("bwrap"), find("nsenter"), find("setpriv")];
  if (bwrap === undefined)
    return { works: false, reason: "bubblewrap is not installed", fix: "apt-get install bubblewrap" };
  if (nsenter === undefined || setpriv === undefined)
    return { works: false, reason: "nsenter and setpriv are not installed", fix: "apt-get install util-linux" };
  const { stdout } = await promisify(execFile)(nsenter, ["--help"], { env: {}, cwd: "/" });
  return { bwrap, nsenter, setpriv, canChangeFolder: stdout.includes("--wdns") };
}
