// `bindings`: which agent answers which conversation.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, list, text } from "./field.ts";

export const bindings = list(
  "Which agent answers where; the most specific match wins.",
  closed({
    agentId: Type.String({ minLength: 1, description: "Agent that answers." }),
    match: closed(
      {
        channel: Type.String({ minLength: 1, description: "Channel id." }),
        accountId: text("Account of that channel; * means any, unset the default one."),
        peer: group("One conversation.", {
          kind: choice("Kind of conversation.", ["direct", "group", "channel", "dm"]),
          id: text("Its id."),
        }),
        guildId: text("Discord server."),
        teamId: text("Slack workspace or Teams team."),
      },
      "What it fits.",
    ),
  }),
);
