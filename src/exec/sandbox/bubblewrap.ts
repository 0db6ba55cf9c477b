// The bubblewrap backend: each command runs in its own namespaces, started in milliseconds without a daemon.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { Log } from "../../base/log.ts";
import type { Sandbox, HostLaunch, Launch } from "../sandbox.ts";
import { findProgram } from "../find-program.ts";
import { createAnonymousFiles, type AnonymousFiles } from "./anonymous-file.ts";
import { fixedArguments, launchArguments, readonlyNameArguments } from "./bubblewrap-arguments.ts";
import { probeBubblewrap } from "./bubblewrap-probe.ts";
import { createControlGroups, type ControlGroups } from "./control-group.ts";
import { limitsOf, ulimitScript } from "./limits.ts";
import { seccompProgram } from "./seccomp.ts";
import { createSetup, type Setup } from "./setup.ts";
import type { NameProtection } from "./readonly-names.ts";
import { cacheSuccess, type Backend, type SandboxSpec } from "./spec.ts";
import { shellClosingInheritedFds } from "./inherited-fds.ts";

export interface BubblewrapDeps {
  readonly nameProtection: NameProtection;
  /** A private folder for unnamed files and for records that must survive a crash. */
  readonly folder: string;
  readonly path: string;
  readonly log: Log;
}

export function createBubblewrap({ nameProtection, folder, path, log }: BubblewrapDeps): Backend {
  // The system's bwrap comes first, because AppArmor rules that allow namespaces name that path.
  const program = findProgram("bwrap", ["/usr/bin", ...path.split(delimiter)]);
  const seccomp = seccompProgram(process.arch);
  const tools: Tools = {
    folder,
    program: program ?? "bwrap",
    // Without a filter for this architecture the probe fails, so no sandbox is opened.
    seccomp: seccomp ?? new Uint8Array(),
    files: createAnonymousFiles(folder),
    groups: createControlGroups(log),
    nameProtection,
    setup: createSetup(),
    log,
  };
  return {
    kind: "bubblewrap",
    works: cacheSuccess(() => probeBubblewrap(program, seccomp, tools.files)),
    check,
    open: (spec) => openSandbox(spec, tools),
    async remove(name) {
      tools.groups.remove(name);
    },
    liveStatus: async () => new Map(),
    async close() {
      tools.files.close();
      tools.groups.close();
    },
  };
}

interface Tools {
  readonly folder: string;
  readonly program: string;
  readonly seccomp: Uint8Array;
  readonly files: AnonymousFiles;
  readonly groups: ControlGroups;
  readonly nameProtection: NameProtection;
  readonly setup: Setup;
  readonly log: Log;
}

function check({ container }: SandboxSpec): void {
  ulimitScript(limitsOf(container));
  if (container.network !== "none") {
    throw new OpenClawError(
      "sandbox.refused",
      `the bubblewrap sandbox has no network, but sandbox.docker.network is ${JSON.stringify(container.network)}`,
      {
        hint: "set agents.defaults.sandbox.docker.network to none, or agents.defaults.sandbox.backend to docker",
      },
    );
  }
  if (container.user !== undefined && !/^\d+(:\d+)?$/.test(container.user)) {
    throw new OpenClawError("sandbox.refused", `the bubblewrap sandbox needs a number as sandbox.docker.user`, {
      hint: "write it as 1000:1000",
    });
  }
}

function openSandbox(spec: SandboxSpec, tools: Tools): Sandbox {
  let fixed: Promise<string[]> | undefined;
  const [workspace] = spec.mounts;
  if (workspace === undefined) throw new Error("a sandbox has a workspace");
  const isHome = spec.homes.includes(workspace.host);

  const prepare = async (launch: Launch): Promise<HostLaunch> => {
    // Another process may have removed the sandbox.
    if (!existsSync(join(spec.folder, "private"))) fixed = undefined;
    const fixedArgs = await (fixed ??= fixedArguments(spec, tools.folder));
    const held = await tools.nameProtection.protect(workspace.host, {
      isHome,
      gitWrite: spec.gitWrite,
      hidden: spec.hidden,
    });
    const { promise: notes, resolve } = Promise.withResolvers<readonly string[]>();
    const args = [
      ...fixedArgs,
      ...readonlyNameArguments(workspace, held.names, spec.hidden),
      ...launchArguments(launch, spec),
    ];
    const gone = (): void => {
      held.drop();
      resolve(held.check());
    };
    return { ...hostLaunch(spec, tools, args, launch.argv), gone, notes };
  };
  return {
    kind: "bubblewrap",
    name: spec.name,
    mounts: spec.mounts,
    workdir: spec.workdir,
    env: spec.container.env,
    gitWrite: spec.gitWrite,
    async launch(launch) {
      await tools.setup.ensure(spec, prepare);
      return prepare(launch);
    },
  };
}

/** Opens the files that bwrap reads, enters the control groups, sets limits and replaces itself with bwrap. */
const entry = `a=$1 s=$2 n=$3; shift 3; while [ "$n" -gt 0 ]; do echo $$ >"$1/cgroup.procs" || exit 125; shift; n=$((n-1)); done; `;

function hostLaunch(spec: SandboxSpec, tools: Tools, args: readonly string[], argv: readonly string[]): HostLaunch {
  const limits = limitsOf(spec.container);
  const groups = tools.groups.groupsOf(spec.name, limits);
  const bounded = groups.boundsMemory
    ? limits
    : { ...limits, process: { data: limits.memoryBytes, ...limits.process } };
  // bwrap passes on every open file, so inherited ones are closed here by number.
  const { shell, closes } = shellClosingInheritedFds();
  return {
    argv: [
      ...shell,
      "-c",
      `${closes}${entry}${ulimitScript(bounded)}exec "$@" 4<"$a" 3<"$s"`,
      spec.name,
      tools.files.pathOf([...args, ""].join("\0")),
      tools.files.pathOf(tools.seccomp),
      String(groups.folders.length),
      ...groups.folders,
      tools.program,
      "--args",
      "4",
      "--seccomp",
      "3",
      "--",
      ...(groups.boundsProcesses ? argv : countedInside(argv, limits.pids)),
    ],
    cwd: "/",
    env: {},
  };
}

/**
 * Without a control group the kernel counts processes per user, since 5.14 per user namespace, so the limit is set
 * inside.
 */
function countedInside(argv: readonly string[], pids: number): readonly string[] {
  return ["/bin/sh", "-c", `ulimit -p ${pids} 2>/dev/null || ulimit -u ${pids}; exec "$@"`, "sh", ...argv];
}
