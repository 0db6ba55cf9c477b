// Holds the programs, the folder and the scripts of an allowed plan until they are started, so that no swap in between counts.
import { closeSync, constants, fstatSync, mkdirSync, openSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { newSecret } from "../../base/ids.ts";
import { contentMark } from "./content.ts";
import { changedSince } from "./freeze.ts";
import { holdScript, type HeldScript } from "./hold-script.ts";
import type { Identity, Plan, Segment } from "./plan.ts";
import { isScript } from "./shebang.ts";

/** Paths that lead to exactly what was allowed, whatever has its name by now. */
export interface Pins {
  readonly cwd: string;
  /** What to start for a program of the plan. A script that cannot be held keeps its path: what it reads beside it depends on it. */
  readonly pathOf: (program: Identity) => string;
  /** How a program of the plan is started whose script is held. */
  readonly heldOf: (segment: Segment) => HeldScript | undefined;
  /** Something is read a while after the start. */
  readonly untilEnd: boolean;
  /** Call it after the start, or at the end. */
  readonly release: () => void;
}

// Not in node:fs: names an object without opening it. The value is the same on every Linux that Node runs on.
const O_PATH = 0o10000000;

/** `folder` is one that only the gateway can write. Throws `approval.changed` like verifyPlan. */
export function pinPlan(plan: Plan, folder: string): Pins {
  if (process.platform !== "linux") return { ...unpinned(plan), untilEnd: false, release: () => undefined };
  forgetOld(folder);
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
        holdScript(segment, plan, join(links, `script-${at}`), placeOf(cwd)),
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
      cwd: placeOf(cwd),
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

/** The paths of the plan say what to start. */
export const unpinned = (plan: Plan): Pick<Pins, "cwd" | "pathOf" | "heldOf"> => ({
  cwd: plan.cwd.path,
  pathOf: ({ path }) => path,
  heldOf: () => undefined,
});

/** A command that still writes there must not end the gateway; what stays goes with the next start. */
function removeLinks(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 5 });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

const cleared = new Set<string>();

/** What a killed gateway left there leads nowhere any more. */
function forgetOld(folder: string): void {
  if (cleared.has(folder)) return;
  cleared.add(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** By our number, not `self`: whoever resolves it may be a child already. */
const placeOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

function hold(identity: Identity, what: string, held: number[]): number {
  const fd = openHeld(identity, what);
  held.push(fd);
  const { dev, ino } = fstatSync(fd, { bigint: true });
  const isSame = dev.toString() === identity.device && ino.toString() === identity.inode;
  if (isSame && (identity.sha256 === undefined || contentMark(placeOf(fd)) === identity.sha256)) return fd;
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

/** A link of the same name, which is what process lists show. */
function pinned(program: Identity, folder: string, held: number[]): string {
  const fd = hold(program, `the program ${program.path}`, held);
  if (isScript(placeOf(fd))) return program.path;
  mkdirSync(folder, { mode: 0o700 });
  const link = join(folder, basename(program.path));
  symlinkSync(placeOf(fd), link);
  return link;
}
