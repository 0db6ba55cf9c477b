// `openclaw chat`: a conversation in the terminal, or one message per line from a pipe.
import { OpenClawError } from "../../core/error.ts";
import { parseAgentId, parseSessionKey } from "../../core/names.ts";
import { chatAtTerminal, chatFromPipe, type ChatOptions } from "../chat/chat-session.ts";
import { withGateway, type GatewayClient } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import { wholeNumber } from "../parse.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

const SHOWN_HISTORY = 6;

export const command = defineCommand({
  details:
    "Replies are streamed, and every tool call is one line. Esc or Ctrl-C stops the reply, Ctrl-C twice exits. A message that starts with / is a chat command; /help lists them. A message that you send while the agent works reaches it immediately. From a pipe, every line is one message, answered in order.",
  options: {
    agent: { type: "string", value: "id", description: "The agent (default: the default agent)." },
    session: { type: "string", value: "key", description: "The session (default: the main session)." },
    model: { type: "string", value: "provider/model", description: "The model of this session from now on." },
    history: { type: "string", value: "n", description: "Earlier messages to show (default: 6; 0 from a pipe)." },
    verbose: { type: "boolean", description: "Also show the results of tools." },
    ...wireOptions,
  },
  examples: [
    { line: "chat", does: "the main session" },
    { line: "chat --agent support --session agent:support:billing", does: "a separate session" },
    { line: "chat --json < questions.txt", does: "one message per line, one JSON object per reply" },
  ],
  exits: "0 you ended the chat, 1 the last turn failed or the connection was lost, 2 wrong usage",
  async run(io, { options }) {
    const history = wholeNumber("history", options.history, { min: 0, max: 200 });
    await requireConfigUnless(options.url !== undefined, io);
    const work = async (client: GatewayClient): Promise<number> => {
      const sessionKey = await keyOf(client, options.agent, options.session);
      if (options.model !== undefined) await client.call("sessions.patch", { key: sessionKey, model: options.model });
      const chat: ChatOptions = {
        sessionKey,
        verbose: options.verbose === true,
        history: history ?? (io.interactive ? SHOWN_HISTORY : 0),
      };
      return io.interactive && !io.json ? chatAtTerminal(io, client, chat) : chatFromPipe(io, client, chat);
    };
    return withGateway(io, await targetOf(io, options), work, { caps: ["tool-events"] });
  },
});

/** The gateway would create a session for any name; a wrong agent should be reported before the first message. */
async function keyOf(client: GatewayClient, agent: string | undefined, session: string | undefined): Promise<string> {
  const known = await client.call("agents.list", {});
  const wanted = agent ?? known.defaultId;
  if (!known.agents.some(({ id }) => id === wanted)) {
    throw new OpenClawError(
      "agent.unknown",
      `there is no agent ${JSON.stringify(wanted)}; known: ${known.agents.map(({ id }) => id).join(", ")}`,
      { hint: `openclaw agents add ${wanted}` },
    );
  }
  const context = { defaultAgent: parseAgentId(wanted), mainKey: known.mainKey };
  const key = parseSessionKey(session ?? "main", context);
  if (agent !== undefined && key.startsWith("agent:") && !key.startsWith(`agent:${wanted}:`)) {
    throw new UsageError(`session ${key} does not belong to agent ${wanted}`, ["chat"]);
  }
  return key;
}
