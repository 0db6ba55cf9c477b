// The commands of a headless node: running commands, finding programs, its own approvals file, and its browsers.
import { OpenClawError } from "../../core/error.ts";
import { checker, Type } from "../../core/schema.ts";
import { ApprovalsFileSchema } from "../../protocol/methods/approvals.ts";
import { readApprovals, withoutToken, writeApprovals } from "../../exec/policy/file.ts";
import { identifyProgram } from "../../exec/policy/programs.ts";
import { BROWSER_PROXY } from "../browser-target.ts";
import type { RunCall, SystemRun } from "./run.ts";

export interface CommandDeps {
  readonly run: SystemRun;
  readonly stateDir: string;
  readonly path: readonly string[];
  /** `browser.proxy`; absent when this node offers no browser. */
  readonly browser?: Command | undefined;
}

/** Throws OpenClawError with a message for the caller. */
export type Command = (params: unknown, call: RunCall) => unknown;

/** Their names are declared to the gateway at connect. */
export function createCommands({ run, stateDir, path, browser }: CommandDeps): Readonly<Record<string, Command>> {
  return {
    "system.run": (params, call) => run.run(params, call),
    "system.run.prepare": (params) => run.prepare(params),
    "system.which": (params) => which(params, path),
    "system.execApprovals.get": () => withoutToken(readApprovals(stateDir)),
    "system.execApprovals.set": (params) => {
      const { file, baseHash } = change.parse(params, "wire.invalid-request", "system.execApprovals.set params");
      return withoutToken(writeApprovals(stateDir, file, baseHash));
    },
    ...(browser === undefined ? {} : { [BROWSER_PROXY]: browser }),
  };
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
