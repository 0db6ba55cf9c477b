// Groups the lines of a recording into runs: their model turns in order, each with its tool calls.
import type { RunOutcome } from "../core/event.ts";
import type { ModelFacts, ModelRequest } from "../model/model.ts";
import type { TurnEvent } from "./deps.ts";
import type { RecordLine } from "./recording.ts";

export interface RecordedRun {
  readonly id: string;
  readonly turns: readonly RecordedTurn[];
  /** Undefined when the process ended before the run did. */
  readonly status: RunOutcome["status"] | undefined;
}

export interface RecordedTurn {
  readonly turn: number;
  /** One per model tried. */
  readonly requests: readonly RecordedRequest[];
  readonly events: readonly TurnEvent[];
  readonly calls: readonly RecordedCall[];
  /** How many calls the model asked for, whether they ran or not. */
  readonly asked: number;
}

export interface RecordedRequest {
  readonly request: ModelRequest;
  readonly facts: ModelFacts;
}

export interface RecordedCall {
  readonly tool: string;
  readonly args: unknown;
  readonly outcome: Extract<RecordLine, { readonly type: "result" }> | undefined;
}

interface OpenTurn {
  readonly turn: number;
  readonly run: string;
  readonly requests: RecordedRequest[];
  events: readonly TurnEvent[];
  readonly calls: RecordedCall[];
}

/** In the order they began, without calls that no model asked for (a person's `/tool`). */
export function groupRuns(lines: readonly RecordLine[]): RecordedRun[] {
  const turns: OpenTurn[] = [];
  const results = new Map(lines.flatMap((line) => (line.type === "result" ? [[line.call, line] as const] : [])));
  const ends = new Map(lines.flatMap((line) => (line.type === "end" ? [[line.run, line.status] as const] : [])));
  for (const line of lines) {
    if (line.type === "request") {
      const { turn, run, request, facts } = line;
      const open = turns.find((candidate) => candidate.turn === turn);
      if (open === undefined) turns.push({ turn, run, requests: [{ request, facts }], events: [], calls: [] });
      else open.requests.push({ request, facts });
    } else if (line.type === "answer") {
      const open = turns.find(({ turn }) => turn === line.turn);
      if (open !== undefined) open.events = line.events;
    } else if (line.type === "call" && line.caller === "agent") {
      const outcome = results.get(line.call);
      turns.findLast(({ run }) => run === line.run)?.calls.push({ tool: line.tool, args: line.args, outcome });
    }
  }
  const ids = [...new Set(turns.map(({ run }) => run))];
  return ids.map((id) => ({
    id,
    turns: withoutSideRequests(turns.filter(({ run }) => run === id)).map(closed),
    status: ends.get(id),
  }));
}

/** Drops requests between turns, such as for a summary: they have no tools and do not come from the loop. */
function withoutSideRequests(turns: readonly OpenTurn[]): readonly OpenTurn[] {
  const hasTools = ({ requests }: OpenTurn): boolean => (requests[0]?.request.tools.length ?? 0) > 0;
  return turns.some(hasTools) ? turns.filter(hasTools) : turns;
}

function closed({ turn, requests, events, calls }: OpenTurn): RecordedTurn {
  return { turn, requests, events, calls, asked: events.filter(({ type }) => type === "tool-call").length };
}
