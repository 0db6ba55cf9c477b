// Starts a plan: its argument lists, or the shell it names. The command line is not parsed again.
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { childEnvironment } from "./environment.ts";
import type { ExecDeps } from "./exec-context.ts";
import { verifyPlan } from "./policy/freeze.ts";
import { pinPlan, unpinned, type Pins } from "./policy/pin.ts";
import type { Plan, Segment } from "./policy/plan.ts";
import type { HostLaunch } from "./sandbox.ts";
import type { PipelinePart, Running } from "./running.ts";

const TERMINAL = { columns: 120, rows: 30 } as const;

export type StartDeps = Pick<ExecDeps, "start" | "env" | "stateDir">;

export interface PlanStart {
  readonly tty: boolean;
  readonly timeoutMs?: number | undefined;
  readonly errorsApart?: boolean;
  /** False: the standard input is empty from the start. Programs such as rg search an open pipe instead of the folder. */
  readonly hasInput: boolean;
  /** Variables that the rules add to the environment. */
  readonly more?: Readonly<Record<string, string>>;
  /** Hides the gateway's own files from each program; used when no person approved the command. */
  readonly guard?: (launch: HostLaunch) => Promise<HostLaunch>;
  /** Files held open since they were compared. Without them the paths in the plan are used. */
  readonly pins?: Where;
}

/**
 * Starts an approved plan. What was compared stays open until the start, so replacing a file in between has no effect.
 */
export async function startPinned(
  deps: StartDeps,
  plan: Plan,
  options: Omit<PlanStart, "pins" | "guard">,
): Promise<Running> {
  const pins = pinPlan(plan, join(deps.stateDir, "pins"));
  try {
    // Compared once more right before the start, because files that are not held are opened by path.
    await verifyPlan(plan);
    const running = await startPlan(deps, plan, { ...options, pins });
    // A terminal starts its program slightly later, and a shell reads its script while it runs.
    if (running.tty || pins.untilEnd) void running.ended.then(pins.release);
    else pins.release();
    return running;
  } catch (error) {
    pins.release();
    throw error;
  }
}

export async function startPlan(
  deps: StartDeps,
  plan: Plan,
  { tty, timeoutMs, errorsApart, hasInput, more = {}, guard, pins = unpinned(plan) }: PlanStart,
): Promise<Running> {
  const env = childEnvironment({ gateway: deps.env, call: plan.env, path: plan.path, tty });
  const pipeline = plan.form === "shell" ? shellLine(plan, env, pins) : segments(plan, { ...env, ...more }, pins);
  const isEmptied = plan.form === "pipeline" && plan.segments[0]?.input === "empty";
  return startWith(deps, {
    pipeline,
    tty: tty && pipeline.length === 1,
    timeoutMs,
    errorsApart,
    hasInput: hasInput && !isEmptied,
    guard,
  });
}

type Where = Pick<Pins, "cwd" | "pathOf" | "heldOf">;

interface Wanted {
  readonly pipeline: readonly PipelinePart[];
  readonly tty: boolean;
  readonly timeoutMs?: number | undefined;
  readonly errorsApart?: boolean | undefined;
  readonly hasInput: boolean;
  readonly guard?: PlanStart["guard"] | undefined;
}

/** Falls back to pipes when no terminal can be opened; the result mentions it. */
export async function startWith(
  { start }: Pick<ExecDeps, "start">,
  { pipeline: wanted, tty, timeoutMs, errorsApart = false, hasInput, guard }: Wanted,
): Promise<Running> {
  const pipeline = guard === undefined ? wanted : await Promise.all(wanted.map((part) => guardedPart(part, guard)));
  const limit = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(errorsApart ? { errorsApart } : {}) };
  if (!tty) return hasInput ? start({ pipeline, ...limit }) : startWithoutInput(start, { pipeline, ...limit });
  try {
    return await start({ pipeline, tty: TERMINAL, ...limit });
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code !== "exec.no-terminal") throw error;
    return start({ pipeline, ...limit });
  }
}

async function startWithoutInput(start: ExecDeps["start"], wanted: Parameters<ExecDeps["start"]>[0]): Promise<Running> {
  const [first, ...rest] = wanted.pipeline;
  const pipeline = first === undefined ? [] : [{ ...first, input: "empty" as const }, ...rest];
  const running = await start({ ...wanted, pipeline });
  await running.closeInput();
  return running;
}

async function guardedPart(part: PipelinePart, guard: NonNullable<Wanted["guard"]>): Promise<PipelinePart> {
  return { ...part, launch: await guard(part.launch) };
}

function shellLine({ shell, command }: Plan, env: Readonly<Record<string, string>>, pins: Where): PipelinePart[] {
  const argv = [shell === undefined ? "/bin/sh" : pins.pathOf(shell), "-c", command];
  return [{ launch: { argv, argv0: shell?.path ?? "/bin/sh", cwd: pins.cwd, env } }];
}

function segments({ segments: parts }: Plan, env: Readonly<Record<string, string>>, pins: Where): PipelinePart[] {
  return parts.map((part) => ({
    launch: { ...launched(part, pins), env: { ...env, ...part.env } },
    ...(part.errors === undefined ? {} : { errors: part.errors }),
    ...(part.output === undefined ? {} : { output: part.output }),
  }));
}

function launched(segment: Segment, pins: Where): Pick<HostLaunch, "argv" | "argv0" | "cwd"> {
  const { argv, program } = segment;
  const held = pins.heldOf(segment);
  if (held === undefined) return { argv: [pins.pathOf(program), ...argv.slice(1)], argv0: program.path, cwd: pins.cwd };
  const { interpreter, at } = held.use;
  const { words, cwd } = held;
  if (at === 0) return { argv: [pins.pathOf(interpreter), ...words], argv0: interpreter.path, cwd };
  return { argv: [pins.pathOf(program), ...argv.slice(1, at), interpreter.path, ...words], argv0: program.path, cwd };
}
