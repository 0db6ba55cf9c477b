// The guard: a command that starts by a rule alone, without its owner's approval, runs where the gateway's files do not exist.
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
  /** Whether commands can be kept from these places on this machine, by a real start. */
  works(paths: GuardedPaths): Promise<Works>;
  /** The launch that runs this one inside. Throws `exec.bad-folder` and `exec.hidden-program` for what is hidden there. */
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

/** Throws for a folder of the gateway that is not the workspace, whoever allowed the command. Links are resolved. */
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
  new ToolError("exec.bad-folder", `${cwd} belongs to the gateway and is no place to run commands`, {
    hint: "leave workdir out to use the workspace, or give a folder outside of the gateway's own",
    details: { refused: true },
  });

const cannotHide = ({ reason, fix }: Refusal): OpenClawError =>
  new OpenClawError("exec.unguarded", `not started: the gateway's own files cannot be hidden from it (${reason})`, {
    hint: fix,
  });

function rejectHidden({ argv, cwd }: HostLaunch, rules: readonly PathRule[]): void {
  if (ruleFor(canonicalPath(cwd), rules)?.access === "hide") throw hiddenFolder(cwd);
  const program = argv[0] ?? "";
  if (ruleFor(canonicalPath(program), rules)?.access !== "hide") return;
  throw new OpenClawError(
    "exec.hidden-program",
    `${program} lies among the gateway's own files, which commands cannot see`,
    {
      hint: "move it to the workspace or to a folder outside of the gateway's own",
    },
  );
}

const worksOf = (pathRules: PathRules | Refusal): Works => (pathRules.works ? { works: true } : pathRules);
const noSeatbelt: Refusal = { works: false, reason: `there is no ${SANDBOX_EXEC}`, fix: "update macOS" };
const unsupported = (platform: string): Refusal => ({
  works: false,
  reason: `there is no way to hide files from a command on ${platform}`,
  fix: "run the gateway on Linux (WSL 2 on Windows) with bubblewrap installed, or on macOS",
});

const MAX_NAMESPACES = 32;
/** A command that was given a path of ours has opened it by then, however busy the machine is. */
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
      // A folder that was replaced since then is another one, and its cover is gone.
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
      // Asked again with the next command: the owner may have installed it meanwhile.
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

/** Where only the administrator installs programs. */
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
