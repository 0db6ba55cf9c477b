// `openclaw agent`: sends one message to an agent and prints the reply. Ctrl-C stops the run, not only this command.
import { thinkingLevels } from "../../core/thinking-level.ts";
import { OpenClawError } from "../../core/error.ts";
import { newId } from "../../base/ids.ts";
import { readLockOwner, stateLockOf } from "../../base/lock.ts";
import type { AgentReply } from "../../protocol/methods/chat.ts";
import { readEvent, type RunView } from "../chat/run-events.ts";
import { createRunPrinter } from "../chat/run-printer.ts";
import type { GatewayClient } from "../client.ts";
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { onInterrupt } from "../interrupt.ts";
import { wholeNumber } from "../parse.ts";
import { safe, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions, type Target } from "../target.ts";

const DEFAULT_TIMEOUT_S = 600;
const STOPPED = 130;
// The gateway stops the run at the timeout; this is additional time for its last response.
const GRACE_MS = 15_000;

export const command = defineCommand({
  details:
    "The turn runs in the gateway with the tools that its policy allows; if no gateway runs on this machine, it runs in this process, on the same state. Without a session, the message goes to the main session of the agent. With --message - it is read from stdin.",
  options: {
    message: { type: "string", short: "m", value: "text", description: "Text of the message; - reads it from stdin." },
    agent: { type: "string", value: "id", description: "The agent (default: the default agent)." },
    session: { type: "string", value: "key", description: "The session by its key." },
    "session-id": { type: "string", value: "id", description: "The session by its id; created if it does not exist." },
    to: { type: "string", value: "number", description: "The session of this recipient." },
    thinking: {
      type: "string",
      value: "level",
      choices: thinkingLevels,
      description: "How much the model thinks, for this turn.",
    },
    model: { type: "string", value: "provider/model", description: "The model, for this turn." },
    verbose: {
      type: "string",
      value: "level",
      choices: ["on", "full", "off"],
      description: "Show tool calls on stderr while it runs; full adds their results.",
    },
    ...wireOptions,
    timeout: { type: "string", value: "seconds", description: "How long the run may take (default: 600)." },
  },
  examples: [
    { line: "agent --message 'What is in this folder?'", does: "to the main session" },
    {
      line: "agent --agent support --message 'hello' --thinking low --json",
      does: "another agent; the whole reply as JSON",
    },
    { line: "agent --session-id nightly --message - < report.txt", does: "a separate session, text from a file" },
  ],
  exits: "0 the agent replied, 1 the run failed, 2 wrong usage, 130 the run was stopped",
  async run(io, { options }) {
    const message = await messageOf(options.message);
    const timeoutS = wholeNumber("timeout", options.timeout, { min: 1, max: 86_400 }) ?? DEFAULT_TIMEOUT_S;
    await requireConfigUnless(options.url !== undefined, io);
    const { timeout: _own, ...wire } = options;
    const asked: Asked = {
      runId: newId(),
      shown: options.verbose ?? "off",
      timeoutS,
      message,
      agentId: options.agent,
      sessionKey: options.session,
      sessionId: options["session-id"],
      to: options.to,
      thinking: options.thinking,
      model: options.model,
    };
    return printReply(io, await askSomewhere(io, await targetOf(io, wire), asked));
  },
});

/** Through the gateway of this machine or another; in this process when no gateway runs. */
async function askSomewhere(io: Io, target: Target, asked: Asked): Promise<AgentReply> {
  const runsHere = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  const printer = createRunPrinter(io, { to: "stderr", full: asked.shown === "full", text: false });
  const show = (view: RunView): void => (asked.shown === "off" ? undefined : printer.show(view));
  if (target.isLocal && !runsHere) {
    const { askHere } = await import("../agent-here.ts");
    return askHere(io, { ...asked, timeoutMs: asked.timeoutS * 1000 }, show);
  }
  const caps = asked.shown === "off" ? [] : ["tool-events"];
  return withGateway(io, target, (client) => ask(io, client, asked, show), { caps });
}

async function messageOf(written: string | undefined): Promise<string> {
  const message = written === "-" ? await (await import("node:stream/consumers")).text(process.stdin) : written;
  if (message !== undefined && message.trim() !== "") return message;
  throw new UsageError("missing --message <text>: the message to the agent", ["agent"]);
}

interface Asked {
  readonly runId: string;
  readonly shown: string;
  readonly timeoutS: number;
  readonly message: string;
  readonly agentId: string | undefined;
  readonly sessionKey: string | undefined;
  readonly sessionId: string | undefined;
  readonly to: string | undefined;
  readonly thinking: string | undefined;
  readonly model: string | undefined;
}

async function ask(io: Io, client: GatewayClient, asked: Asked, show: (view: RunView) => void): Promise<AgentReply> {
  const { runId, shown: _own, timeoutS, ...turn } = asked;
  let key = asked.sessionKey;
  const stopListening = client.onEvent((event, payload) => {
    const received = readEvent(event, payload);
    if (received?.runId !== runId) return;
    key ??= received.sessionKey;
    show(received.view);
  });
  const stopCatching = onInterrupt(() => {
    io.say("stopping; press Ctrl-C again to exit immediately");
    void stopRun(client, runId, key ?? "main").catch((error: unknown) => io.say(safe(wordsOf(error))));
  });
  try {
    const params = { ...given(turn), timeout: timeoutS, idempotencyKey: runId };
    const timeoutMs = timeoutS * 1000 + GRACE_MS;
    return (await client.call("agent", params, { timeoutMs, expectFinal: true })) as AgentReply;
  } finally {
    stopCatching();
    stopListening();
  }
}

async function stopRun(client: GatewayClient, runId: string, sessionKey: string): Promise<void> {
  await client.call("chat.abort", { sessionKey, runId });
}

function printReply(io: Io, reply: AgentReply): number {
  const aborted = reply.result?.meta?.aborted === true;
  const texts = (reply.result?.payloads ?? []).flatMap(({ text, mediaUrl }) => [text ?? "", mediaUrl ?? ""]);
  const text = texts.filter((part) => part !== "").join("\n");
  if (io.json) io.print(toJson(reply));
  else if (text !== "") io.print(safe(text));
  if (aborted) {
    io.say("the run was stopped");
    return STOPPED;
  }
  if (reply.status !== "ok")
    throw new OpenClawError("run.failed", reply.summary ?? `the run ended with ${reply.status}`, {
      hint: "openclaw logs",
    });
  if (text === "" && !io.json) io.say("(no reply)");
  return 0;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
