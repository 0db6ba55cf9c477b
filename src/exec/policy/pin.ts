// Holds the programs, folder and scripts of an approved plan open until the start, so that replacing a file has no effect.
import { closeSync, constants, fstatSync, mkdirSync, openSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { newSecret } from "../../base/ids.ts";
import { contentFingerprint } from "./content.ts";
import { changedSince } from "./freeze.ts";
import { holdScript, type HeldScript } from "./hold-script.ts";
import type { Identity, Plan, Segment } from "./plan.ts";
import { isScript } from "./shebang.ts";

/** Paths that lead to what was approved, even when a file was replaced. */
export interface Pins {
  readonly cwd: string;
  /** The path to start for a program of the plan. A script that cannot be held keeps its own path. */
  readonly pathOf: (program: Identity) => string;
  /** How to start a program of the plan whose script is held. */
  readonly heldOf: (segment: Segment) => HeldScript | undefined;
  /** True when a file is read some time after the start. */
  readonly untilEnd: boolean;
  /** Call it after the start or at the end. */
  readonly release: () => void;
}

// Not in node:fs: refers to an object without opening it. The value is the same on every Linux that Node supports.
const O_PATH = 0o10000000;

/** Only the gateway can write to `folder`. Throws `approval.changed` like verifyPlan. */
export function pinPlan(plan: Plan, folder: string): Pins {
  if (process.platform !== "linux") return { ...unpinned(plan), untilEnd: false, release: () => undefined };
  removeStaleLinks(folder);
  const held: number[] = [];
  const links = join(folder, newSecret(8));
  const release = (): void => {
    for (const fd of held.splice(0)) closeSync(fd);
    removeLinks(links);
  };
  try {
    mkdirSync(links, { recursive: true, mode: 0o700 });
    const cwd = hold(plan.cwd, "the working folder", held);
    const scripts = new Map(
      plan.segments.map((segment, at) => [
        segment,
        holdScript(segment, plan, join(links, `script-${at}`), fdPath(cwd)),
      ]),
    );
    const programs = [
      ...plan.segments.flatMap(({ program, shebang }) => [
        program,
        ...(shebang === undefined ? [] : [shebang.interpreter]),
      ]),
      ...(plan.shell === undefined ? [] : [plan.shell]),
    ];
    const paths = new Map(programs.map((program, at) => [program, pinned(program, join(links, String(at)), held)]));
    return {
      cwd: fdPath(cwd),
      pathOf: (program) => paths.get(program) ?? program.path,
      heldOf: (segment) => scripts.get(segment),
      untilEnd: [...scripts.values()].some((script) => script !== undefined),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Uses the paths of the plan unchanged. */
export const unpinned = (plan: Plan): Pick<Pins, "cwd" | "pathOf" | "heldOf"> => ({
  cwd: plan.cwd.path,
  pathOf: ({ path }) => path,
  heldOf: () => undefined,
});

/** A command that still writes there must not stop the gateway; leftovers are removed at the next start. */
function removeLinks(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 5 });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

const cleared = new Set<string>();

/** Links of a killed gateway lead nowhere. */
function removeStaleLinks(folder: string): void {
  if (cleared.has(folder)) return;
  cleared.add(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Uses our pid instead of `self`, because a child may resolve the path. */
const fdPath = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

function hold(identity: Identity, what: string, held: number[]): number {
  const fd = openHeld(identity, what);
  held.push(fd);
  const { dev, ino } = fstatSync(fd, { bigint: true });
  const isSame = dev.toString() === identity.device && ino.toString() === identity.inode;
  if (isSame && (identity.sha256 === undefined || contentFingerprint(fdPath(fd)) === identity.sha256)) return fd;
  throw changedSince(what);
}

function openHeld({ path }: Identity, what: string): number {
  try {
    return openSync(path, O_PATH | constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw changedSince(what);
  }
}

/** A link with the program's name, which process lists show. */
function pinned(program: Identity, folder: string, held: number[]): string {
  const fd = hold(program, `the program ${program.path}`, held);
  if (isScript(fdPath(fd))) return program.path;
  mkdirSync(folder, { mode: 0o700 });
  const link = join(folder, basename(program.path));
  symlinkSync(fdPath(fd), link);
  return link;
}
