// `openclaw sessions undo`: restores the files that a turn changed, through the gateway or, without one, in this process.
import { OpenClawError } from "../../core/error.ts";
import { readLockOwner, stateLockOf } from "../../base/lock.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { KeptTurn, UndoReport } from "../../tool/undo/undo.ts";
import type { UndoneFile } from "../../tool/undo/plan.ts";
import { diffLines, turnsText, undoText } from "../../tool/undo/undo-text.ts";
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { safe, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions, type Target } from "../target.ts";

const DIFF_CHARS = 40_000;

interface Request {
  readonly key?: string;
  readonly turn?: number;
  readonly list?: boolean;
  readonly redo?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

type Answer = UndoReport | { readonly key: string; readonly turns: readonly KeptTurn[] };

export const command = defineCommand({
  details:
    "Restores all files or none. If another person or program changed a file since, the command shows the difference and changes nothing, unless forced. Sent messages and executed commands cannot be undone; they are listed. An undo is a turn itself: --redo reverts it.",
  options: {
    session: { type: "string", value: "key", description: "The session (default: the main session)." },
    turn: { type: "string", value: "n", description: "Undo this turn instead of the last one; see --list." },
    list: { type: "boolean", description: "Show the turns that can be undone, and change nothing." },
    redo: { type: "boolean", description: "Revert the last undo." },
    "dry-run": { type: "boolean", description: "Show what would be done, and change nothing." },
    force: { type: "boolean", description: "Also overwrite later changes by others." },
    ...wireOptions,
  },
  examples: [
    { line: "sessions undo --dry-run", does: "what the last turn changed in files" },
    { line: "sessions undo", does: "undo it" },
    { line: "sessions undo --session agent:support:main --turn 3 --json", does: "one turn of another agent" },
  ],
  async run(io, { options }) {
    const { session, list, redo, "dry-run": dryRun, force, turn: _turn, ...wire } = options;
    const turn = wholeNumber("turn", options.turn, { min: 1, max: 99_999_999 });
    if (turn !== undefined && redo === true) throw new UsageError("--turn and --redo exclude each other");
    await requireConfigUnless(options.url !== undefined, io);
    const request: Request = {
      ...(session === undefined ? {} : { key: session }),
      ...(turn === undefined ? {} : { turn }),
      ...given({ list, redo, dryRun, force }),
    };
    try {
      print(io, await askSomewhere(io, await targetOf(io, wire), request));
      return 0;
    } catch (error) {
      return refused(io, error);
    }
  },
});

async function askSomewhere(io: Io, target: Target, request: Request): Promise<Answer> {
  const runsHere = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  if (target.isLocal && !runsHere) return askHere(io, request);
  return await withGateway(io, target, (client) => client.call("sessions.undo", request));
}

async function askHere(io: Io, { key, list, ...request }: Request): Promise<Answer> {
  const { openOffline } = await import("../../app/offline.ts");
  const runtime = await openOffline(io.env, io.profile);
  try {
    const { session, agent } = subjectOf({ sessionKey: key }, runtime.settings.now().config);
    if (list === true) return { key: session, turns: await runtime.undo.list(session) };
    return await runtime.undo.undo({ session, agent, caller: "cli" }, request);
  } finally {
    await runtime.close();
  }
}

function print(io: Io, answer: Answer): void {
  if (io.json) io.print(toJson(answer));
  else
    io.print(
      safe("turns" in answer ? turnsText(answer.turns) : undoText(answer, DIFF_CHARS, "openclaw sessions undo --redo")),
    );
}

/** The difference shows what would be lost. */
function refused(io: Io, error: unknown): never {
  if (io.json || !(error instanceof OpenClawError) || error.code !== "undo.changed") throw error;
  const { files = [], changedSince = [] } = error.details as {
    files?: readonly UndoneFile[];
    changedSince?: readonly string[];
  };
  const foreign = files.filter(({ path }) => changedSince.includes(path));
  io.say(safe(diffLines(foreign, DIFF_CHARS).join("\n")));
  throw error;
}

function given(flags: Readonly<Record<string, boolean | undefined>>): Record<string, true> {
  return Object.fromEntries(Object.entries(flags).flatMap(([name, value]) => (value === true ? [[name, true]] : [])));
}
