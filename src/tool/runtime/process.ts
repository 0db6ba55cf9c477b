// The process tool: follows and controls background commands of the calling agent.
import { ToolError, OpenClawError } from "../../core/error.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import type { Clock } from "../../base/clock.ts";
import { encodeKeys, encodePaste, stepsForPipe } from "../../exec/keys.ts";
import type { ProcessSession, ProcessTable } from "../../exec/processes.ts";
import { noMask, type TailMask } from "../../exec/shown-tail.ts";
import type { TrustChecks } from "../trust.ts";
import { defineTool, type ToolCall, type ToolResult } from "../tool.ts";
import { createHeldBack, headOf, logPage, pollNews, toRow, type ProcessDetails } from "./process-view.ts";

const actions = [
  "list",
  "poll",
  "log",
  "screen",
  "write",
  "send-keys",
  "submit",
  "paste",
  "kill",
  "clear",
  "remove",
] as const;

const params = Type.Object(
  {
    action: Type.Enum([...actions], {
      type: "string",
      description:
        "Operation. poll: new output and exit code, without waiting. log: output by line. screen: what a terminal shows. clear: forget a finished one. remove: kill and forget.",
    }),
    sessionId: Type.Optional(
      Type.String({ description: "Name from exec, such as swift-garden; required except for list." }),
    ),
    data: Type.Optional(
      Type.String({ description: "write: text to send as it is. submit: text to type before Enter." }),
    ),
    eof: Type.Optional(Type.Boolean({ description: "write: close the input after data (default false)." })),
    keys: Type.Optional(
      Type.Array(Type.String(), { description: 'send-keys: key names, such as ["C-c"] or ["Up", "Enter"].' }),
    ),
    hex: Type.Optional(
      Type.Array(Type.String(), { description: 'send-keys: bytes in hex, such as ["1b"], sent before keys.' }),
    ),
    literal: Type.Optional(Type.String({ description: "send-keys: text to type before keys." })),
    text: Type.Optional(Type.String({ description: "paste: text to paste." })),
    bracketed: Type.Optional(
      Type.Boolean({ description: "paste: mark it as pasted for the terminal (default true)." }),
    ),
    offset: Type.Optional(Type.Number({ description: "log: lines to skip (default: all but the last ones)." })),
    limit: Type.Optional(Type.Number({ description: "log: maximum number of lines (default 200; all after offset)." })),
  },
  { additionalProperties: false },
);

type Arguments = Static<typeof params>;

export interface ProcessToolDeps extends TrustChecks {
  readonly processes: ProcessTable;
  readonly clock: Clock;
  /** For what is cut out of an output; whole results are masked by their caller. */
  readonly mask?: TailMask;
}

export const createProcessTool = ({
  processes,
  clock,
  mask = noMask,
  isConfinedToChat,
  isUntrustedCall,
}: ProcessToolDeps) => {
  const held = createHeldBack((text) => mask.unfinished(text));
  return defineTool({
    name: "process",
    summary: "Follow and control background commands",
    description: "Follow and control commands that exec runs in the background.",
    params,
    verbatim: true,
    unrecorded: ["data", "literal", "text", "keys", "hex"],
    intent: ({ action, sessionId }) =>
      action === "list" || action === "poll" || action === "log" || action === "screen"
        ? { does: "look" }
        : { does: "admin", what: `process ${action} ${visible(sessionId ?? "", 80)}` },
    async run(args, call): Promise<ToolResult<ProcessDetails>> {
      const isConfined = (await isConfinedToChat?.(call)) === true;
      const isOpen = (entry: ProcessSession): boolean => mayReach(entry, call, isConfined);
      if (args.action === "list") return listAll(processes.list(call.agent).filter(isOpen), clock, mask);
      const entry = entryOf(processes, args, call, isOpen);
      if (entry.privileged && typing.has(args.action) && (await isUntrustedCall?.(call)) === true)
        throw ownersOnly(entry);
      switch (args.action) {
        case "poll":
          return pollNews(entry, held);
        case "log":
          return logPage(entry, args);
        case "screen":
          return screenOf(entry);
        case "write":
          return write(entry, args);
        case "send-keys":
          return sendKeys(entry, args);
        case "submit":
          return send(entry, Buffer.from(`${args.data ?? ""}${entry.running.tty ? "\r" : "\n"}`), "Submitted.");
        case "paste":
          return paste(entry, args);
        case "kill":
          return kill(entry);
        case "clear":
          return clear(processes, entry);
        case "remove":
          return remove(processes, entry);
      }
    },
  });
};

function listAll(entries: readonly ProcessSession[], clock: Clock, mask: TailMask): ToolResult<ProcessDetails> {
  const sessions = entries.map((entry) => toRow(entry, clock.now(), mask));
  const lines = sessions.map(
    ({ sessionId, status, runtimeMs, name, command }) =>
      `${sessionId}  ${status}  ${Math.round(runtimeMs / 1000)}s  ${name} :: ${visible(command, 120)}`,
  );
  const text = lines.length === 0 ? "No background commands." : lines.join("\n");
  return { content: [{ type: "text", text }], details: { status: "completed", sessions } };
}

const typing: ReadonlySet<Arguments["action"]> = new Set(["write", "send-keys", "submit", "paste"]);

/** The approval was for the command as shown, and elevated is for listed senders: later input is covered by neither. */
function ownersOnly({ id }: ProcessSession): ToolError {
  const error = `${id} runs with the owner's approval, and untrusted content led to this turn: it may not send input`;
  return new ToolError("process.owner-only", error, {
    hint: "the owner can ask for it in their own chat; or start another command",
    details: { refused: true, status: "failed", sessionId: id, error },
  });
}

/** An open shell is a way to run commands: a sandbox must not reach one outside, and an untrusted chat none but its own. */
function mayReach({ session, sandboxed }: ProcessSession, call: ToolCall, isConfined: boolean): boolean {
  if (session === call.session) return true;
  return !isConfined && (!call.sandboxed || sandboxed);
}

/** Unknown, expired, unreachable and foreign commands give the same error, so that callers cannot probe for them. */
function entryOf(
  processes: ProcessTable,
  { action, sessionId }: Arguments,
  call: ToolCall,
  isOpen: (entry: ProcessSession) => boolean,
): ProcessSession {
  const id = requireText(sessionId, "sessionId", action);
  const entry = processes.get(call.agent, id);
  if (entry !== undefined && isOpen(entry)) return entry;
  const error = `no background command is named "${visible(id, 80)}"`;
  throw new ToolError("process.unknown", error, {
    hint: "process list shows the names; finished commands are forgotten after tools.exec.cleanupMs",
    details: { status: "failed", sessionId: visible(id, 80), error },
  });
}

function requireText(text: string | undefined, name: string, action: string): string {
  if (text !== undefined && text !== "") return text;
  throw new ToolError("process.missing-argument", `process: missing "${name}"`, { hint: `${action} needs ${name}` });
}

async function screenOf(entry: ProcessSession): Promise<ToolResult<ProcessDetails>> {
  const screen = await entry.running.screen();
  if (screen === undefined) {
    throw new ToolError("process.no-screen", `${entry.id} has no terminal`, {
      hint: "read it with poll or log; to get a screen, start it with exec pty:true",
    });
  }
  return answer(entry, screen === "" ? "(the screen is empty)" : screen, { screen });
}

async function write(entry: ProcessSession, { data, eof = false }: Arguments): Promise<ToolResult<ProcessDetails>> {
  if (data === undefined && !eof) requireText(data, "data", "write");
  if (data !== undefined && data !== "") await put(entry, Buffer.from(data));
  else requireRunning(entry);
  if (eof) await entry.running.closeInput();
  return answer(entry, eof ? "Written; input closed." : "Written.");
}

/** Only a terminal program understands the marks around pasted text. */
async function paste(
  entry: ProcessSession,
  { text, bracketed = true }: Arguments,
): Promise<ToolResult<ProcessDetails>> {
  const bytes = encodePaste(requireText(text, "text", "paste"), bracketed && entry.running.tty);
  return send(entry, bytes, "Pasted.");
}

async function sendKeys(entry: ProcessSession, args: Arguments): Promise<ToolResult<ProcessDetails>> {
  const { bytes, warnings } = encodeKeys(args);
  if (bytes.length === 0) requireText(undefined, "keys", "send-keys");
  if (!entry.running.tty) return sendToPipe(entry, args, warnings);
  return send(entry, bytes, [...warnings, sent(bytes)].join("\n"));
}

const sent = ({ length }: Buffer): string => `Sent ${length} ${length === 1 ? "byte" : "bytes"}.`;

async function sendToPipe(
  entry: ProcessSession,
  args: Arguments,
  warnings: readonly string[],
): Promise<ToolResult<ProcessDetails>> {
  const steps = stepsForPipe(args);
  if (steps === undefined) throw noTerminal(entry);
  const done = [...warnings];
  for (const step of steps) {
    requireRunning(entry);
    switch (step.does) {
      case "write":
        await put(entry, step.bytes);
        done.push(sent(step.bytes));
        break;
      case "signal":
        await entry.running.interrupt(step.signal);
        done.push(
          `${entry.id} has no terminal: sent it ${step.signal} instead. poll shows whether it stopped; kill ends it.`,
        );
        break;
      case "close":
        await entry.running.closeInput();
        done.push("Closed its input.");
        break;
    }
  }
  return answer(entry, done.join("\n"));
}

function noTerminal(entry: ProcessSession): ToolError {
  const error = `${entry.id} has no terminal: it accepts only text, Enter, C-c, C-d and C-\\`;
  return new ToolError("process.no-terminal", error, {
    hint: "start it again with exec pty:true",
    details: { status: "failed", sessionId: entry.id, error },
  });
}

async function send(entry: ProcessSession, bytes: Buffer, text: string): Promise<ToolResult<ProcessDetails>> {
  await put(entry, bytes);
  return answer(entry, text);
}

/** A program that does not read its input must not block the caller: after this time the bytes are queued. */
const PUT_MS = 1000;

async function put(entry: ProcessSession, bytes: Buffer): Promise<void> {
  requireRunning(entry);
  const { promise: waited, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PUT_MS);
  const taken = entry.running.write(bytes);
  // After the timeout, no caller waits for this promise.
  taken.catch(() => resolve());
  try {
    await Promise.race([taken, waited]);
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    if (error.code !== "exec.input-full") throw inputClosed(entry);
    throw new ToolError("process.input-full", `${entry.id}: ${error.message}`, {
      hint: error.hint ?? "end it with action=kill",
    });
  } finally {
    clearTimeout(timer);
  }
}

function requireRunning(entry: ProcessSession): void {
  if (entry.state() !== "running") throw inputClosed(entry);
}

function inputClosed(entry: ProcessSession): ToolError {
  const state = entry.state();
  const error = state === "running" ? `${entry.id} has closed its input` : `${entry.id} is not running (${state})`;
  return new ToolError("process.input-closed", error, {
    hint: "poll shows how it ended; start it again with exec",
    details: { status: "failed", sessionId: entry.id, error },
  });
}

async function kill(entry: ProcessSession): Promise<ToolResult<ProcessDetails>> {
  const wasRunning = entry.state() === "running";
  entry.noteExitKnown();
  // Also after it has exited: this ends what it left running in the background.
  await entry.running.end("killed");
  return answer(
    entry,
    wasRunning ? `Killed ${entry.id} and every process it started.` : `${entry.id} had already ended.`,
  );
}

async function clear(processes: ProcessTable, entry: ProcessSession): Promise<ToolResult<ProcessDetails>> {
  if (entry.state() === "running") {
    throw new ToolError("process.running", `${entry.id} is still running`, { hint: "kill it first, or use remove" });
  }
  await processes.forget(entry);
  return answer(entry, `Forgot ${entry.id}.`);
}

async function remove(processes: ProcessTable, entry: ProcessSession): Promise<ToolResult<ProcessDetails>> {
  const wasRunning = entry.state() === "running";
  entry.noteExitKnown();
  if (wasRunning) await entry.running.end("killed");
  await processes.forget(entry);
  return answer(entry, wasRunning ? `Killed and forgot ${entry.id}.` : `Forgot ${entry.id}.`);
}

function answer(entry: ProcessSession, text: string, more: { screen?: string } = {}): ToolResult<ProcessDetails> {
  return { content: [{ type: "text", text }], details: { ...headOf(entry), ...more } };
}
