// The sessions_spawn tool: starts a subagent whose result is announced in this session.
import { Type } from "../../core/schema.ts";
import type { Subagents } from "../../session/subagents.ts";
import { foldArguments } from "../fold-arguments.ts";
import { coreTools } from "../policy/groups.ts";
import { defineTool, json, nonBlank } from "../tool.ts";

export const createSessionsSpawn = (deps: { readonly children: () => Pick<Subagents, "spawn"> }) =>
  defineTool({
    name: "sessions_spawn",
    summary: "Start a subagent for a task",
    description:
      "Start a subagent that works on one task in the background. The result arrives later as a message; do not poll for it.",
    params: Type.Object(
      {
        task: nonBlank("Complete instructions; the subagent does not see this conversation."),
        label: Type.Optional(Type.String({ description: "Short name to recognize it by." })),
        agentId: Type.Optional(Type.String({ description: "Agent to run it, from agents_list (default: you)." })),
        model: Type.Optional(Type.String({ description: "Model as provider/model (default: as configured)." })),
        thinking: Type.Optional(
          Type.String({
            description: "Thinking level: off, minimal, low, medium, high or xhigh.",
          }),
        ),
        runTimeoutSeconds: Type.Optional(
          Type.Number({ minimum: 0, description: "Seconds after which it is stopped (default 0: no limit)." }),
        ),
        cleanup: Type.Optional(
          Type.Enum(["delete", "keep"], {
            type: "string",
            description: "Whether its session is deleted after the result (default keep).",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    prepare: (raw) => foldArguments(raw, { timeoutSeconds: "runTimeoutSeconds" }),
    intent: ({ label, agentId }) => ({ does: "send", to: `subagent ${label ?? agentId ?? ""}`.trim() }),
    async run(args, call) {
      const { agent, session, sandboxed, turn } = call;
      const tools = call.offers?.() ?? [...coreTools.keys()].filter((name) => call.allows(name));
      const answer = await deps.children().spawn({ requester: { agent, session, sandboxed }, turn, tools, ...args });
      return { ...json(answer), isError: answer.status === "forbidden" };
    },
  });
