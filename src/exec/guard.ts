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
import type { GuardPlaces } from "./guard/places.ts";
import { SANDBOX_EXEC, underSeatbelt } from "./guard/seatbelt.ts";
import { viewOptions } from "./guard/machine.ts";
import { deciding, viewOf, type Step, type View } from "./guard/view.ts";

export interface Guard {
  /** Whether commands can be kept from these places on this machine, by a real start. */
  works(places: GuardPlaces): Promise<Works>;
  /** The launch that runs this one inside. Throws `exec.bad-folder` and `exec.hidden-program` for what is hidden there. */
  wrap(launch: HostLaunch, places: GuardPlaces): Promise<HostLaunch>;
  close(): void;
}

type Refusal = Extract<Works, { works: false }>;

export function createGuard(platform: NodeJS.Platform = process.platform): Guard {
  const namespaces = createNamespaces();
  const isMac = platform === "darwin";
  return {
    async works(places) {
      if (isMac) return isRunnable(SANDBOX_EXEC) ? withoutSteps(viewOf(places, viewOptions(""))) : noSeatbelt;
      if (platform !== "linux") return unsupported(platform);
      const view = viewOf(places, viewOptions(""));
      const namespace = view.works ? await namespaces.of(view) : view;
      return "reason" in namespace ? namespace : { works: true };
    },
    async wrap(launch, places) {
      const view = viewOf(places, viewOptions(launch.argv[0] ?? ""));
      if (!view.works) throw cannotHide(view);
      requireShown(launch, view.steps);
      if (isMac) return underSeatbelt(launch, view.steps);
      const namespace = await namespaces.of(view);
      if ("reason" in namespace) throw cannotHide(namespace);
      return namespace.enter(launch);
    },
    close: () => namespaces.close(),
  };
}

/** Throws for a folder of the gateway that is not the workspace, whoever allowed the command. Links are resolved. */
export function requireOwnFolder(cwd: string, { state, workspace }: Pick<GuardPlaces, "state" | "workspace">): void {
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

function requireShown({ argv, cwd }: HostLaunch, steps: readonly Step[]): void {
  if (deciding(canonicalPath(cwd), steps)?.does === "cover") throw hiddenFolder(cwd);
  const program = argv[0] ?? "";
  if (deciding(canonicalPath(program), steps)?.does !== "cover") return;
  throw new OpenClawError(
    "exec.hidden-program",
    `${program} lies among the gateway's own files, which commands cannot see`,
    {
      hint: "move it to the workspace or to a folder outside of the gateway's own",
    },
  );
}

const withoutSteps = (view: View | Refusal): Works => (view.works ? { works: true } : view);
const noSeatbelt: Refusal = { works: false, reason: `there is no ${SANDBOX_EXEC}`, fix: "update macOS" };
const unsupported = (platform: string): Refusal => ({
  works: false,
  reason: `there is no way to hide files from a command on ${platform}`,
  fix: "run the gateway on Linux (WSL 2 on Windows) with bubblewrap installed, or on macOS",
});

const MAX_KEPT = 32;
/** A command that was given a path of ours has opened it by then, however busy the machine is. */
const GRACE_MS = 60_000;

function createNamespaces(): { of(view: View): Promise<Namespace | Refusal>; close(): void } {
  const kept = new Map<string, Promise<Namespace | Refusal>>();
  const leaving = new Map<Namespace, NodeJS.Timeout>();
  let programs: Promise<Programs | Refusal> | undefined;

  const build = async (view: View): Promise<Namespace | Refusal> => {
    const found = await (programs ??= findPrograms());
    return "reason" in found ? found : buildNamespace(view, found);
  };
  const retire = async (key: string): Promise<void> => {
    const namespace = await kept.get(key);
    kept.delete(key);
    if (namespace === undefined || "reason" in namespace) return;
    const timer = setTimeout(() => {
      leaving.delete(namespace);
      namespace.close();
    }, GRACE_MS);
    leaving.set(namespace, timer.unref());
  };
  return {
    async of(view) {
      // A folder that was replaced since then is another one, and its cover is gone.
      const key = JSON.stringify(view.steps.map((step) => [step, identityOf(step.path)]));
      const known = kept.get(key) ?? build(view);
      kept.delete(key);
      kept.set(key, known);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) void retire(oldest);
      const answer = await known.catch((error: unknown) => {
        kept.delete(key);
        throw error;
      });
      // Asked again with the next command: the owner may have installed it meanwhile.
      if ("reason" in answer) {
        kept.delete(key);
        programs = undefined;
      }
      return answer;
    },
    close() {
      for (const [namespace, timer] of leaving) {
        clearTimeout(timer);
        namespace.close();
      }
      for (const known of kept.values())
        void known.then((namespace) => ("reason" in namespace ? undefined : namespace.close()));
      kept.clear();
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
