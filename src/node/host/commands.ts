// The commands of a headless node: running commands, finding programs, and its own approvals file.
import { OpenClawError } from "../../core/error.ts";
import { checker, Type } from "../../core/schema.ts";
import { ApprovalsFileSchema } from "../../protocol/methods/approvals.ts";
import { readApprovals, withoutToken, writeApprovals } from "../../exec/policy/file.ts";
import { identifyProgram } from "../../exec/policy/programs.ts";
import type { RunCall, SystemRun } from "./run.ts";

/** Declared to the gateway at connect. */
export const hostCommands = [
  "system.run",
  "system.run.prepare",
  "system.which",
  "system.execApprovals.get",
  "system.execApprovals.set",
] as const;

export interface CommandDeps {
  readonly run: SystemRun;
  readonly stateDir: string;
  readonly path: readonly string[];
}

/** Throws OpenClawError with a message for the caller. */
export type Command = (params: unknown, call: RunCall) => unknown;

export function createCommands({ run, stateDir, path }: CommandDeps): Readonly<Record<string, Command>> {
  const commands: Record<(typeof hostCommands)[number], Command> = {
    "system.run": (params, call) => run.run(params, call),
    "system.run.prepare": (params) => run.prepare(params),
    "system.which": (params) => which(params, path),
    "system.execApprovals.get": () => withoutToken(readApprovals(stateDir)),
    "system.execApprovals.set": (params) => {
      const { file, baseHash } = change.parse(params, "wire.invalid-request", "system.execApprovals.set params");
      return withoutToken(writeApprovals(stateDir, file, baseHash));
    },
  };
  return commands;
}

const change = checker(
  Type.Object({ file: ApprovalsFileSchema, baseHash: Type.Optional(Type.String({ minLength: 1 })) }),
);

const MAX_BINS = 500;
const wanted = checker(Type.Object({ bins: Type.Array(Type.String({ maxLength: 255 }), { maxItems: MAX_BINS }) }));

/** Names only, so that callers cannot test whether a file exists. */
function which(params: unknown, path: readonly string[]): { readonly bins: Readonly<Record<string, string>> } {
  const { bins } = wanted.parse(params, "wire.invalid-request", "system.which params");
  const odd = bins.find((name) => name.includes("/") || name.includes("\0"));
  if (odd !== undefined) throw new OpenClawError("wire.invalid-request", "bins must be program names without a folder");
  const found = bins.flatMap((name) => {
    const program = identifyProgram(name, { cwd: "/", path });
    return program === undefined ? [] : [[name, program.path] as const];
  });
  return { bins: Object.fromEntries(found) };
}
