// The exec tool: runs a command where the config says. The engine is in src/exec.
import { Type } from "../../core/schema.ts";
import { EXEC_ASK, EXEC_HOST, EXEC_SECURITY } from "../../exec/route.ts";
import { describeRoute } from "../../exec/describe-route.ts";
import type { Exec } from "../../exec/exec.ts";
import type { ExecOutcome } from "../../exec/result.ts";
import { defineTool, nonBlank, type Tool, type ToolResult } from "../tool.ts";
import { foldArguments } from "../fold-arguments.ts";

const params = Type.Object(
  {
    command: nonBlank("Shell command line to run."),
    workdir: Type.Optional(Type.String({ description: "Folder to run in (default: the workspace)." })),
    env: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Additional environment variables." })),
    yieldMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_600_000,
        description: "Milliseconds to wait before it continues in the background (default 10000).",
      }),
    ),
    background: Type.Optional(
      Type.Boolean({ description: "Return immediately and run in the background (default false)." }),
    ),
    timeout: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 604_800,
        description: "Seconds until it is killed (default 1800; 0 means never).",
      }),
    ),
    pty: Type.Optional(
      Type.Boolean({
        description: "Give it a terminal, for prompts, passwords and REPLs (default false).",
      }),
    ),
    host: Type.Optional(
      Type.Enum([...EXEC_HOST], {
        type: "string",
        description: "Where to run (default: as configured).",
      }),
    ),
    security: Type.Optional(
      Type.Enum([...EXEC_SECURITY], {
        type: "string",
        description: "Stricter security for this call.",
      }),
    ),
    ask: Type.Optional(
      Type.Enum([...EXEC_ASK], {
        type: "string",
        description: "Stricter approval rule for this call.",
      }),
    ),
    node: Type.Optional(Type.String({ description: "Node id or name, with host=node." })),
    elevated: Type.Optional(
      Type.Boolean({ description: "Run on the host instead of in the sandbox (default false)." }),
    ),
  },
  { additionalProperties: false },
);

export function createExecTool(exec: Exec): Tool<typeof params, ExecOutcome["details"]> {
  return defineTool({
    name: "exec",
    summary: "Run shell commands",
    description:
      "Run a shell command and return its output. After yieldMs it continues in the background; follow it with process. Standard input is empty unless background, yieldMs or pty is set.",
    params,
    verbatim: true,
    place: ({ config, agent, sandboxed }) => describeRoute(config, agent, sandboxed),
    prepare: (raw) => foldArguments(raw, { cwd: "workdir", cmd: "command" }),
    intent: ({ command, host }, { sandboxed }) => ({
      does: "run",
      command,
      host: host ?? (sandboxed ? "sandbox" : "gateway"),
    }),
    async run(args, call) {
      return resultOf(await exec.perform(args, call));
    },
  });
}

/** Warnings first, then the output. */
function resultOf({ details, warnings, text }: ExecOutcome): ToolResult<ExecOutcome["details"]> {
  return {
    content: [{ type: "text", text: [...warnings, text].join("\n") }],
    details,
    ...(details.status === "failed" ? { isError: true } : {}),
  };
}
