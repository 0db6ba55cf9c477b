// Replays a recording through the real loop, offline: models and tools answer from the file. Reports the first difference.
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
    const player = new RunPlayer(run);
    const end = await runLoop(run.turns[0]?.requests[0]?.request.messages ?? [], player.ports(), player.signal);
    const difference = player.difference(end);
    count.runs += 1;
    count.turns += player.turns;
    count.calls += player.calls;
    if (difference !== undefined) return { same: false, ...count, difference };
  }
  return { same: true, ...count };
}

/** Plays one recorded run: its ports answer from the recording and note the first difference. */
class RunPlayer {
  readonly #turns: readonly RecordedTurn[];
  readonly #status: RecordedRun["status"];
  readonly #stopped = new AbortController();
  #found: Difference | undefined;
  #turnIndex = 0;
  #callIndex = 0;
  /** How many messages the loop has; its next one has this position in the next request. */
  #length = 0;
  #hasSteered = false;
  /** Tool calls that were played. */
  calls = 0;

  constructor({ turns, status }: RecordedRun) {
    this.#turns = turns;
    this.#status = status;
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Model turns that were played. */
  get turns(): number {
    return Math.min(this.#turnIndex, this.#turns.length);
  }

  ports(): LoopPorts {
    return {
      model: (messages) => this.#answer(messages),
      callTool: async ({ name, args }) => this.#callTool(name, args),
      steer: () => this.#steer(),
      append: () => void (this.#length += 1),
      save: async () => {},
      emit: () => {},
      overflow: async () => this.#nextMessages(),
      // Where the recording stops for a reason from outside (a budget, a kill), the replay stops too.
      reserve: async () =>
        this.#turnIndex > 0 && this.#nextTurn === undefined && this.#status !== "ok"
          ? { code: "replay.end", message: "the recording ends here" }
          : undefined,
      now: () => this.#nextMessages()?.[this.#length]?.timestamp ?? 0,
      isReadOnly: () => false,
      isClientTool: (name) => this.#isClientTool(name),
    };
  }

  /** The first difference during the run, or the one that its end shows. */
  difference(end: LoopEnd): Difference | undefined {
    if (this.#found !== undefined) return this.#found;
    const missing = this.#nextTurn;
    if (missing !== undefined)
      return {
        where: `turn ${missing.turn}`,
        path: "",
        recorded: "a request to the model",
        now: `the run ended (${end.status})`,
      };
    if (this.#turnIndex > this.#turns.length)
      return {
        where: `after turn ${this.#turns.at(-1)?.turn ?? 0}`,
        path: "",
        recorded: "the run ended",
        now: "a request to the model",
      };
    const left = this.#turn?.calls[this.#callIndex];
    if (left === undefined) return undefined;
    return {
      where: `turn ${this.#turn?.turn ?? 0}, tool call ${this.#callIndex + 1}`,
      path: "",
      recorded: `${left.tool} ${JSON.stringify(left.args)}`,
      now: "(no call)",
    };
  }

  get #turn(): RecordedTurn | undefined {
    return this.#turns[this.#turnIndex - 1];
  }

  get #nextTurn(): RecordedTurn | undefined {
    return this.#turns[this.#turnIndex];
  }

  #nextMessages(): readonly Message[] | undefined {
    return this.#nextTurn?.requests[0]?.request.messages;
  }

  async *#answer(messages: readonly Message[]): AsyncGenerator<TurnEvent> {
    const turn = this.#turns[this.#turnIndex++];
    [this.#length, this.#callIndex, this.#hasSteered] = [messages.length, 0, false];
    if (turn === undefined) return yield* endOfRecording();
    for (const { request, facts } of turn.requests) {
      const mismatch = firstMismatch(request, { ...request, messages: sendable(messages, facts) });
      if (mismatch === undefined) continue;
      this.#note({ where: `turn ${turn.turn}, the request`, ...mismatch });
      return yield* endOfRecording();
    }
    yield* turn.events;
    const last = turn.events.at(-1)?.type;
    if (last !== "end" && last !== "error") yield* endOfRecording();
  }

  #callTool(name: string, args: unknown): ToolAnswer {
    const turn = this.#turn;
    const call = turn?.calls[this.#callIndex++];
    const where = `turn ${turn?.turn ?? 0}, tool call ${this.#callIndex}`;
    this.calls += 1;
    if (call === undefined) {
      this.#note({ where, path: "", recorded: "(no call)", now: `${name} ${JSON.stringify(args)}` });
      return failureAnswer("the recording has no such call");
    }
    const mismatch = firstMismatch({ tool: call.tool, args: call.args }, { tool: name, args });
    if (mismatch !== undefined) this.#note({ where, ...mismatch });
    if (isStop(call)) this.#stopped.abort();
    return answerOf(call);
  }

  #steer(): readonly UserMessage[] {
    const turn = this.#turn;
    if (turn === undefined || this.#hasSteered || this.#callIndex < turn.calls.length) return [];
    // The message of the assistant is appended already, the results of its calls are not.
    const start = this.#length + turn.asked;
    const added = (this.#nextMessages() ?? []).slice(start).filter((message) => message.role === "user");
    this.#hasSteered = added.length > 0;
    return added;
  }

  /** A call that is not on record and that no turn follows was passed to the caller. */
  #isClientTool(name: string): boolean {
    const { asked, calls } = this.#turn ?? { asked: 0, calls: [] };
    return this.#nextTurn === undefined && asked > calls.length && calls.every(({ tool }) => tool !== name);
  }

  #note(difference: Difference): void {
    this.#found ??= difference;
    this.#stopped.abort();
  }
}

async function* endOfRecording(): AsyncGenerator<TurnEvent> {
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
