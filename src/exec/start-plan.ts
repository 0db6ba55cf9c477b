// Starts a plan: the argument lists it holds, or the shell it names. Nothing is parsed a second time.
import { childEnvironment } from "./environment.ts";
import type { ExecDeps } from "./exec.ts";
import type { Plan } from "./approval/plan.ts";
import type { PipelinePart, Running } from "./running.ts";

export const TERMINAL = { columns: 120, rows: 30 } as const;

export interface PlanStart {
  readonly tty: boolean;
  readonly timeoutMs?: number | undefined;
  /** On top of the rest, set by the rules themselves. */
  readonly more?: Readonly<Record<string, string>>;
}

export async function startPlan(
  deps: ExecDeps,
  plan: Plan,
  { tty, timeoutMs, more = {} }: PlanStart,
): Promise<Running> {
  const env = childEnvironment({ gateway: deps.env, call: plan.env, path: plan.path, tty });
  const pipeline = plan.form === "shell" ? shellLine(plan, env) : segments(plan, { ...env, ...more });
  const running = await deps.start({
    pipeline,
    ...(tty && pipeline.length === 1 ? { tty: TERMINAL } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if (plan.segments[0]?.input === "empty" && plan.form === "pipeline") await running.closeInput();
  return running;
}

function shellLine({ shell, command, cwd }: Plan, env: Readonly<Record<string, string>>): PipelinePart[] {
  return [{ launch: { argv: [shell?.path ?? "/bin/sh", "-c", command], cwd: cwd.path, env } }];
}

function segments({ segments: parts, cwd }: Plan, env: Readonly<Record<string, string>>): PipelinePart[] {
  return parts.map(({ argv, program, env: own, errors, output }) => ({
    launch: { argv: [program.path, ...argv.slice(1)], cwd: cwd.path, env: { ...env, ...own } },
    ...(errors === undefined ? {} : { errors }),
    ...(output === undefined ? {} : { output }),
  }));
}
