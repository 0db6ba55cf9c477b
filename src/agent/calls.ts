// Runs the tool calls of one model turn: in parallel when all are read-only, else in order; every call gets an answer.
import type { RunEventBody, ToolOutput } from "../core/event.ts";
import type { UserMessage } from "../core/message.ts";
import { PASSED_TO_CALLER } from "./caller-history.ts";
import { cutAnswer, failureAnswer, SKIPPED, type ToolAnswer } from "./result.ts";
import type { RepeatVerdict } from "./repeat.ts";
import type { ModelCall } from "./stream.ts";

export interface CallPorts {
  /** Never throws: a failure is an answer. */
  callTool(call: RunnableCall, signal: AbortSignal, progress: (partial: ToolOutput) => void): Promise<ToolAnswer>;
  /** True when the call is read-only, so that it may run in parallel. */
  isReadOnly(call: RunnableCall): boolean;
  /** Tools that the caller of the run answers itself. */
  isClientTool(name: string): boolean;
  emit(body: RunEventBody): void;
  steer(): readonly UserMessage[];
}

export interface RunnableCall {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

export interface ClientCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface CallsContext {
  readonly ports: CallPorts;
  readonly signal: AbortSignal;
  readonly repeated: (name: string, args: unknown) => RepeatVerdict;
  /** Calls that this run may still make. */
  readonly left: number;
}

interface CallsEnd {
  readonly answers: readonly ToolAnswer[];
  readonly steered: readonly UserMessage[];
  readonly clientCalls: readonly ClientCall[];
  readonly stop: "repeat" | "calls" | undefined;
}

export async function runCalls(calls: readonly ModelCall[], context: CallsContext): Promise<CallsEnd> {
  const { ports, signal, left } = context;
  const verdicts = calls.map(({ name, args }) => context.repeated(name, args.ok ? args.value : args.problem));
  if (verdicts.includes("stop")) return rejectAll(calls, "Not run: the same call was repeated too often.", "repeat");
  if (calls.length > left) return rejectAll(calls, "Not run: too many tool calls in one run.", "calls");

  const clientCalls = calls.flatMap(({ id, name, args }) =>
    // The model reads why its arguments were rejected, so that it can correct them.
    ports.isClientTool(name) && args.ok ? [{ id, name, arguments: JSON.stringify(args.value) }] : [],
  );
  const runOne = async (call: ModelCall, index: number): Promise<ToolAnswer> => {
    const result = await runCall(call, ports, signal);
    return verdicts[index] === "warn" ? withRepeatWarning(result) : result;
  };

  if (
    calls.length > 1 &&
    calls.every((call) => call.args.ok && !ports.isClientTool(call.name) && ports.isReadOnly(runnable(call)))
  ) {
    const answers = await Promise.all(calls.map((call, index) => runOne(call, index)));
    return { answers, steered: signal.aborted ? [] : ports.steer(), clientCalls, stop: undefined };
  }
  const answers: ToolAnswer[] = [];
  let steered: readonly UserMessage[] = [];
  for (const [index, call] of calls.entries()) {
    if (steered.length > 0) answers.push(rejectCall(call, SKIPPED, ports));
    else if (signal.aborted) answers.push(rejectCall(call, "Not run: the run was stopped.", ports));
    else {
      answers.push(await runOne(call, index));
      if (!signal.aborted) steered = ports.steer();
    }
  }
  return { answers, steered, clientCalls: steered.length > 0 ? [] : clientCalls, stop: undefined };
}

async function runCall(call: ModelCall, ports: CallPorts, signal: AbortSignal): Promise<ToolAnswer> {
  const { id, name, args } = call;
  if (!args.ok) return rejectCall(call, `${name}: ${args.problem}`, ports);
  if (ports.isClientTool(name)) return { content: [{ type: "text", text: PASSED_TO_CALLER }], isError: false };
  ports.emit({ stream: "tool", phase: "start", name, toolCallId: id, args: args.value });
  const progress = (partial: ToolOutput): void =>
    ports.emit({ stream: "tool", phase: "update", name, toolCallId: id, partial });
  const result = cutAnswer(await ports.callTool(runnable(call), signal, progress), name, args.value);
  return finish(call, result, ports);
}

/** Emits a start for a call that did not run, so that start and result stay a pair. */
function rejectCall(call: ModelCall, reason: string, ports: CallPorts): ToolAnswer {
  const args = call.args.ok ? call.args.value : {};
  ports.emit({ stream: "tool", phase: "start", name: call.name, toolCallId: call.id, args });
  return finish(call, failureAnswer(reason), ports);
}

function finish({ id, name }: ModelCall, result: ToolAnswer, ports: CallPorts): ToolAnswer {
  const { isError, content, details } = result;
  const shown = details === undefined ? { content } : { content, details };
  ports.emit({ stream: "tool", phase: "result", name, toolCallId: id, isError, result: shown });
  return result;
}

function withRepeatWarning(result: ToolAnswer): ToolAnswer {
  const note =
    "[You have made this same call with the same arguments several times in a row. The result will not change: try something else, or answer.]";
  return { ...result, content: [...result.content, { type: "text", text: note }] };
}

function rejectAll(calls: readonly ModelCall[], text: string, stop: "repeat" | "calls"): CallsEnd {
  return { answers: calls.map(() => failureAnswer(text)), steered: [], clientCalls: [], stop };
}

function runnable({ id, name, args }: ModelCall): RunnableCall {
  return { id, name, args: args.ok ? args.value : {} };
}
