// The two kinds of chat: at a terminal, where a person can stop and type ahead, and from a pipe, line by line.
import { createInterface } from "node:readline";

import { OpenClawError } from "../../core/error.ts";
import type { GatewayClient } from "../client.ts";
import type { Io } from "../io.ts";
import { reportFailure } from "../failure.ts";
import { onInterrupt } from "../interrupt.ts";
import { safe } from "../print.ts";
import { printMessage } from "../print-message.ts";
import { openConversation, type Conversation, type TurnEnd } from "./conversation.ts";
import { openLineInput } from "./line-input.ts";
import { textIn } from "./run-events.ts";
import { createRunPrinter } from "./run-printer.ts";

export interface ChatOptions {
  readonly sessionKey: string;
  readonly verbose: boolean;
  /** Earlier messages to show at the start. */
  readonly history: number;
}

const LEAVE_WITHIN_MS = 2000;

export async function chatAtTerminal(io: Io, client: GatewayClient, options: ChatOptions): Promise<number> {
  const printer = createRunPrinter(io, { to: "stdout", full: options.verbose, text: true });
  const conversation = openConversation(client, options.sessionKey, (view) => printer.show(view));
  io.print(io.paint.dim(`${options.sessionKey} · Esc stops a reply, Ctrl-C twice exits, /help lists commands`));
  await showHistory(io, client, options);
  const left = Promise.withResolvers<number>();
  let lastInterruptMs = Number.NEGATIVE_INFINITY;
  const input = openLineInput(io.paint.strong("> "), {
    line: (text) => void takeLine(text).catch(left.reject),
    stop: (key) => void stop(key).catch(left.reject),
    end: () => left.resolve(0),
  });

  const takeLine = async (text: string): Promise<void> => {
    if (text.trim() === "") return conversation.isBusy() ? undefined : input.open();
    if (conversation.isBusy()) printer.printLine(io.paint.dim(`> ${safe(text)}`));
    input.cover();
    await attempt(io, () => conversation.send(text).then(({ ended }) => ended));
    if (!conversation.isBusy()) input.open();
  };

  const stop = async (key: "escape" | "interrupt"): Promise<void> => {
    const again = key === "interrupt" && performance.now() - lastInterruptMs < LEAVE_WITHIN_MS;
    if (key === "interrupt") lastInterruptMs = performance.now();
    if (again) return left.resolve(0);
    if (conversation.isBusy()) return void (await attempt(io, () => conversation.stop()));
    if (key === "escape") return;
    input.cover();
    io.print(io.paint.dim("(press Ctrl-C again to exit)"));
    input.open();
  };

  input.open();
  try {
    return await Promise.race([left.promise, client.ended]);
  } finally {
    input.close();
    conversation.close();
    io.write("\n");
  }
}

/** Prints the error of a rejected turn and continues; a lost connection ends the chat. */
async function attempt<T>(io: Io, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OpenClawError) || isLost(error)) throw error;
    reportFailure(error, io);
    return undefined;
  }
}

function isLost({ code }: OpenClawError): boolean {
  return code === "gateway.closed" || code === "gateway.restarting" || code === "gateway.unreachable";
}

export async function chatFromPipe(io: Io, client: GatewayClient, options: ChatOptions): Promise<number> {
  const printer = createRunPrinter(io, { to: "stdout", full: options.verbose, text: true });
  const conversation = openConversation(client, options.sessionKey, (view) =>
    io.json ? undefined : printer.show(view),
  );
  const stopCatching = onInterrupt(() => void attempt(io, () => conversation.stop()));
  let failed = false;
  try {
    await showHistory(io, client, options);
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
      if (line.trim() !== "") failed = !(await answered(io, conversation, line));
    }
    return failed ? 1 : 0;
  } finally {
    stopCatching();
    conversation.close();
  }
}

async function answered(io: Io, conversation: Conversation, line: string): Promise<boolean> {
  const end = await attempt(io, async () => {
    const { runId, ended } = await conversation.send(line);
    return { runId, end: await ended };
  });
  if (end === undefined) return false;
  if (io.json) io.print(JSON.stringify({ runId: end.runId, ...factsOf(end.end) }));
  return end.end.kind === "final";
}

function factsOf(end: TurnEnd): Record<string, unknown> {
  if (end.kind === "error")
    return { status: "error", error: end.message, ...(end.hint === undefined ? {} : { hint: end.hint }) };
  return { status: end.kind === "final" ? "ok" : "aborted", text: end.text };
}

async function showHistory(io: Io, client: GatewayClient, { sessionKey, history }: ChatOptions): Promise<void> {
  if (history === 0) return;
  // Tool calls and results are messages too; four times as many leave enough text messages.
  const limit = Math.min(1000, history * 4);
  const { messages } = await client.call("chat.history", { sessionKey, limit });
  const texts = messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .filter(({ content }) => textIn(content) !== "");
  for (const message of texts.slice(-history)) printMessage(io, message);
}
