// Runs a recording again through the real loop, offline: models and tools answer from the file. Reports what differs first.
import { ToolError } from "../core/error.ts";
import type { Message, UserMessage } from "../core/message.ts";
import type { LoopEnd, LoopPorts } from "./loop.ts";
import { runLoop } from "./loop.ts";
import { sendable } from "./turn-model.ts";
import { firstMismatch, type Mismatch } from "./difference.ts";
import type { TurnEvent } from "./deps.ts";
import { groupRuns, type RecordedCall, type RecordedRun, type RecordedTurn } from "./recorded-runs.ts";
import { readRecording } from "./recording.ts";
import { answerOfError, failureAnswer, type ToolAnswer } from "./result.ts";

export interface Difference extends Mismatch {
  /** `turn 3, the request`, for people. */
  readonly where: string;
}

export interface ReplayReport {
  readonly same: boolean;
  readonly runs: number;
  readonly turns: number;
  readonly calls: number;
  readonly difference?: Difference;
}

/** Throws OpenClawError `replay.missing` and `replay.bad-file`. */
export async function replay(file: string): Promise<ReplayReport> {
  const runs = groupRuns(readRecording(file));
  const count = { runs: 0, turns: 0, calls: 0 };
  for (const run of runs) {
    const stage = createStage(run);
    const end = await runLoop(run.turns[0]?.requests[0]?.request.messages ?? [], stage.ports, stage.signal);
    const difference = stage.difference(end);
    count.runs += 1;
    count.turns += stage.played().turns;
    count.calls += stage.played().calls;
    if (difference !== undefined) return { same: false, ...count, difference };
  }
  return { same: true, ...count };
}

interface Stage {
  readonly ports: LoopPorts;
  readonly signal: AbortSignal;
  /** The first one, or what the end of the run shows. */
  difference(end: LoopEnd): Difference | undefined;
  played(): { readonly turns: number; readonly calls: number };
}

function createStage({ turns, status }: RecordedRun): Stage {
  const stopped = new AbortController();
  let found: Difference | undefined;
  let [turnAt, callAt, calls] = [0, 0, 0];
  // How many messages the loop holds; its next one has this position in the next request.
  let length = 0;
  let steered = false;
  const note = (difference: Difference): void => {
    found ??= difference;
    stopped.abort();
  };
  const current = (): RecordedTurn | undefined => turns[turnAt - 1];
  const following = (): readonly Message[] | undefined => turns[turnAt]?.requests[0]?.request.messages;

  async function* model(messages: readonly Message[]): AsyncGenerator<TurnEvent> {
    const turn = turns[turnAt++];
    [length, callAt, steered] = [messages.length, 0, false];
    if (turn === undefined) return yield* ended();
    for (const { request, facts } of turn.requests) {
      const mismatch = firstMismatch(request, { ...request, messages: sendable(messages, facts) });
      if (mismatch === undefined) continue;
      note({ where: `turn ${turn.turn}, the request`, ...mismatch });
      return yield* ended();
    }
    yield* turn.events;
    const last = turn.events.at(-1)?.type;
    if (last !== "end" && last !== "error") yield* ended();
  }

  const callTool: LoopPorts["callTool"] = async ({ name, args }) => {
    const turn = current();
    const call = turn?.calls[callAt++];
    const where = `turn ${turn?.turn ?? 0}, tool call ${callAt}`;
    calls += 1;
    if (call === undefined) {
      note({ where, path: "", recorded: "(no call)", now: `${name} ${JSON.stringify(args)}` });
      return failureAnswer("the recording has no such call");
    }
    const mismatch = firstMismatch({ tool: call.tool, args: call.args }, { tool: name, args });
    if (mismatch !== undefined) note({ where, ...mismatch });
    if (isStop(call)) stopped.abort();
    return answerOf(call);
  };

  const steer = (): readonly UserMessage[] => {
    const turn = current();
    if (turn === undefined || steered || callAt < turn.calls.length) return [];
    // The assistant's message is in already, the results of its calls are not yet.
    const start = length + turn.asked;
    const added = (following() ?? []).slice(start).filter((message) => message.role === "user");
    steered = added.length > 0;
    return added;
  };

  const ports: LoopPorts = {
    model,
    callTool,
    steer,
    append: () => void (length += 1),
    save: async () => {},
    emit: () => {},
    overflow: async () => following(),
    // Where the recording stops for a reason from outside (a budget, a kill), so do we.
    reserve: async () =>
      turnAt > 0 && turns[turnAt] === undefined && status !== "ok"
        ? { code: "replay.end", message: "the recording ends here" }
        : undefined,
    now: () => following()?.[length]?.timestamp ?? 0,
    looksOnly: () => false,
    // A call that is neither on record nor followed by another turn was handed to whoever asked.
    isClientTool: (name) =>
      turns[turnAt] === undefined &&
      (current()?.asked ?? 0) > (current()?.calls.length ?? 0) &&
      current()?.calls.every(({ tool }) => tool !== name) === true,
  };

  return {
    ports,
    signal: stopped.signal,
    played: () => ({ turns: Math.min(turnAt, turns.length), calls }),
    difference(end) {
      if (found !== undefined) return found;
      const missing = turns[turnAt];
      if (missing !== undefined)
        return {
          where: `turn ${missing.turn}`,
          path: "",
          recorded: "a request to the model",
          now: `the run ended (${end.status})`,
        };
      if (turnAt > turns.length)
        return {
          where: `after turn ${turns.at(-1)?.turn ?? 0}`,
          path: "",
          recorded: "the run ended",
          now: "a request to the model",
        };
      const left = current()?.calls[callAt];
      if (left !== undefined)
        return {
          where: `turn ${current()?.turn ?? 0}, tool call ${callAt + 1}`,
          path: "",
          recorded: `${left.tool} ${JSON.stringify(left.args)}`,
          now: "(no call)",
        };
      return undefined;
    },
  };
}

async function* ended(): AsyncGenerator<TurnEvent> {
  yield { type: "error", error: { kind: "aborted", message: "the recording ends here" } };
}

function isStop({ outcome }: RecordedCall): boolean {
  return outcome === undefined || ("error" in outcome && outcome.aborted === true);
}

function answerOf({ tool, outcome }: RecordedCall): ToolAnswer {
  if (outcome === undefined) return failureAnswer("the recording ends before this call did");
  if ("result" in outcome) return { ...outcome.result, isError: false };
  const { code, message, hint } = outcome.error;
  // An unexpected error of a tool reaches the model without its message.
  return answerOfError(tool, code === "tool.bug" ? undefined : new ToolError(code, message, { hint }));
}
