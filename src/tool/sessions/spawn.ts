// sessions_spawn: a sub-agent for one task; it runs on its own and its result comes back to this chat.
import { Type } from "../../core/schema.ts";
import type { Subagents } from "../../session/subagents.ts";
import { foldArguments } from "../fold-arguments.ts";
import { coreTools } from "../policy/groups.ts";
import { defineTool, json } from "../tool.ts";
import { blank } from "./blank.ts";

export const createSessionsSpawn = (deps: { readonly children: () => Pick<Subagents, "spawn"> }) =>
  defineTool({
    name: "sessions_spawn",
    summary: "Start a sub-agent for a task",
    description: "Start a sub-agent. Returns at once; its result comes to you as a message.",
    params: Type.Object(
      {
        task: Type.String({ minLength: 1 }),
        label: Type.Optional(Type.String()),
        agentId: Type.Optional(Type.String()),
        model: Type.Optional(Type.String()),
        thinking: Type.Optional(Type.String()),
        runTimeoutSeconds: Type.Optional(Type.Number({ minimum: 0 })),
        cleanup: Type.Optional(Type.Enum(["delete", "keep"], { type: "string" })),
      },
      { additionalProperties: false },
    ),
    prepare: (raw) => foldArguments(raw, { timeoutSeconds: "runTimeoutSeconds" }),
    intent: ({ label, agentId }) => ({ does: "send", to: `sub-agent ${label ?? agentId ?? ""}`.trim() }),
    async run(args, call) {
      if (args.task.trim() === "") throw blank("sessions_spawn", "task");
      const { agent, session, sandboxed, turn } = call;
      const tools = call.offers?.() ?? [...coreTools.keys()].filter((name) => call.allows(name));
      const answer = await deps.children().spawn({ requester: { agent, session, sandboxed }, turn, tools, ...args });
      return { ...json(answer), isError: answer.status === "forbidden" };
    },
  });
