// exec: runs a command where the config says, under the rules that hold there. The engine is in exec/.
import { ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import { EXEC_ASK, EXEC_HOST, EXEC_SECURITY } from "../../exec/route.ts";
import { describeRoute } from "../../exec/describe-route.ts";
import type { Exec } from "../../exec/exec.ts";
import type { ExecOutcome } from "../../exec/result.ts";
import { defineTool, type Tool, type ToolResult } from "../tool.ts";
import { foldArguments } from "../fold-arguments.ts";

const params = Type.Object(
  {
    command: Type.String({ description: "Shell command line" }),
    workdir: Type.Optional(Type.String({ description: "Start folder; default: workspace" })),
    env: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Further variables" })),
    yieldMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000, description: "To background after; 10000" })),
    background: Type.Optional(Type.Boolean({ description: "At once in the background" })),
    timeout: Type.Optional(Type.Number({ minimum: 0, maximum: 604_800, description: "Seconds; 1800, 0 none" })),
    pty: Type.Optional(Type.Boolean({ description: "In a terminal" })),
    host: Type.Optional(Type.Enum([...EXEC_HOST], { type: "string", description: "Leave out: it is configured" })),
    security: Type.Optional(Type.Enum([...EXEC_SECURITY], { type: "string", description: "Only to be stricter" })),
    ask: Type.Optional(Type.Enum([...EXEC_ASK], { type: "string", description: "Only to be stricter" })),
    node: Type.Optional(Type.String({ description: "Node, for host node" })),
    elevated: Type.Optional(Type.Boolean({ description: "On the host, not in the sandbox" })),
  },
  { additionalProperties: false },
);

export function createExecTool(exec: Exec): Tool<typeof params, ExecOutcome["details"]> {
  return defineTool({
    name: "exec",
    summary: "Run shell commands",
    description:
      "Run a shell command. What takes longer than yieldMs goes on in the background: follow it with process. Use pty for terminal programs.",
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
      if (args.command.trim() === "") throw blank();
      return resultOf(await exec.perform(args, call));
    },
  });
}

function blank(): ToolError {
  return new ToolError("tool.bad-arguments", "exec: command is blank", { hint: "give a command line to run" });
}

/** Warnings first, then what a person would see. */
function resultOf({ details, warnings, text }: ExecOutcome): ToolResult<ExecOutcome["details"]> {
  return {
    content: [{ type: "text", text: [...warnings, text].join("\n") }],
    details,
    ...(details.status === "failed" ? { isError: true } : {}),
  };
}
