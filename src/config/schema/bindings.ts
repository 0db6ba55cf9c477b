// `bindings`: which agent answers which conversation.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, list, text } from "./field.ts";

export const bindings = list(
  "Which agent replies where; the most specific match wins.",
  closed({
    agentId: Type.String({ minLength: 1, description: "Agent that replies." }),
    match: closed(
      {
        channel: Type.String({ minLength: 1, description: "Channel id." }),
        accountId: text("Account of the channel; * means any, by default the default account."),
        peer: group("One conversation.", {
          kind: choice("Kind of conversation.", ["direct", "group", "channel", "dm"]),
          id: text("Id of the conversation."),
        }),
        guildId: text("Discord server."),
        teamId: text("Slack workspace or Teams team."),
      },
      "Conversations that the binding matches.",
    ),
  }),
);
