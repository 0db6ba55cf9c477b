// /undo: reverts the file changes of the last turn, and says what it cannot revert.
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { diffLines, turnsText, undoText } from "../../tool/undo/undo-text.ts";
import type { UndoneFile } from "../../tool/undo/plan.ts";
import type { UndoRequest } from "../../tool/undo/undo.ts";
import type { Directed } from "../../agent/direct.ts";
import { answered, type Command } from "../command-run.ts";

const DIFF_CHARS = 3000;
const usage = "Usage: /undo [turn] [show] [force], /undo redo, /undo list";

export const undo: Command = {
  name: "undo",
  takes: "[turn] [show] [force] | redo | list",
  summary: "Restore the files that the last turn changed",
  // Waits for the current run, because it must not change files during one.
  waits: true,
  async answer(args, { deps, context }) {
    const { sessionKey: session, agentId: agent, approver } = context;
    if (deps.undo === undefined) return answered("No changes are recorded here, so none can be undone.");
    if (approver === undefined)
      return answered("Only a sender who may answer approvals can undo here. Nothing was changed.");
    const request = readRequest(args);
    if (request === undefined) return answered(usage);
    if (request.list) return answered(turnsText((await deps.undo.list(session)).slice(0, 20)));
    try {
      return answered(
        undoText(await deps.undo.undo({ session, agent, caller: "chat:/undo" }, request), DIFF_CHARS, "/undo redo"),
      );
    } catch (error) {
      if (error instanceof OpenClawError && error.code === "undo.changed") return refused(error);
      throw error;
    }
  },
};

function readRequest(args: string): (UndoRequest & { readonly list: boolean }) | undefined {
  const words = args
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const known = new Set(["redo", "list", "show", "force"]);
  const numbers = words.filter((word) => /^\d{1,9}$/.test(word));
  if (numbers.length > 1 || words.some((word) => !known.has(word) && !numbers.includes(word))) return undefined;
  return {
    list: words.includes("list"),
    redo: words.includes("redo"),
    dryRun: words.includes("show"),
    force: words.includes("force"),
    ...(numbers[0] === undefined ? {} : { turn: Number(numbers[0]) }),
  };
}

/** An answer and not a failure, because chats show one line of a failure, and people need the diff. */
function refused({ message, hint, details }: OpenClawError): Directed {
  const files = isRecord(details) && Array.isArray(details.files) ? (details.files as readonly UndoneFile[]) : [];
  const changed = isRecord(details) && Array.isArray(details.changedSince) ? (details.changedSince as string[]) : [];
  const diff = diffLines(
    files.filter(({ path }) => changed.includes(path)),
    DIFF_CHARS,
  );
  return answered([message, ...(hint === undefined ? [] : [`Fix: ${hint}`]), ...diff].join("\n"));
}
