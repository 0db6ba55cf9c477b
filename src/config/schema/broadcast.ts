// `broadcast`: conversations that several agents answer.
import { Type } from "../../core/schema.ts";
import { choice, notBuilt } from "./field.ts";

/** Every key but `strategy` is a conversation id with its agents. */
export const broadcast = notBuilt(
  Type.Optional(
    Type.Object(
      {
        strategy: choice("Runs the agents in parallel or one after the other.", ["parallel", "sequential"], {
          default: "parallel",
        }),
      },
      {
        description: "Conversations that several agents answer: id to agent ids.",
        additionalProperties: Type.Array(Type.String(), { description: "Agents that answer this conversation." }),
      },
    ),
  ),
);
