// Options that select for whom tools are listed or explained: agent, model, chat and sender.
import type { SubjectRequest } from "../tool/subject.ts";
import type { Options } from "./command.ts";

export const whoOptions = {
  agent: { type: "string", value: "id", description: "The agent (default: the default agent)." },
  session: { type: "string", value: "key", description: "The session, such as main or agent:support:main." },
} as const satisfies Options;

export const modelOption = {
  model: {
    type: "string",
    value: "provider/model",
    description: "The model in use; without one, rules for providers do not apply.",
  },
} as const satisfies Options;

export const whereOptions = {
  channel: { type: "string", value: "name", description: "The channel, such as telegram." },
  account: { type: "string", value: "id", description: "The account on that channel." },
  group: { type: "string", value: "id", description: "The group or channel id." },
  guild: { type: "string", value: "id", description: "The guild (Discord)." },
  team: { type: "string", value: "id", description: "The team (Microsoft Teams)." },
  sender: { type: "string", value: "id", description: "The sender of the message." },
  sandboxed: { type: "boolean", description: "Treat the session as sandboxed." },
} as const satisfies Options;

type Given = Partial<
  Record<"agent" | "session" | "model" | "channel" | "account" | "group" | "guild" | "team" | "sender", string>
> & { readonly sandboxed?: boolean };

export function subjectRequest({
  agent,
  session,
  model,
  channel,
  account,
  group,
  guild,
  team,
  sender,
  sandboxed,
}: Given): SubjectRequest {
  return {
    agentId: agent,
    sessionKey: session,
    model,
    channel,
    accountId: account,
    groupId: group,
    guildId: guild,
    teamId: team,
    sender,
    sandboxed,
  };
}
