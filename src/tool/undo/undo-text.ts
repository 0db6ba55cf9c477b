// Describes an undo for chats and the terminal.
import { visible } from "../../core/visible.ts";
import type { KeptTurn, UndoReport } from "./undo.ts";
import type { UndoneFile } from "./plan.ts";

const descriptions: Readonly<Record<UndoneFile["does"], string>> = {
  restored: "restored",
  removed: "removed, because it did not exist before",
  recreated: "created again",
  same: "unchanged",
  "not-kept": "NOT restored",
};

/** `redo` is what the reader enters to revert the undo. */
export function undoText(report: UndoReport, maxDiffChars: number, redo: string): string {
  const { turn, at, dryRun, undo, files, remains, changedSince } = report;
  const when = new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const head = dryRun
    ? `Would undo turn ${turn} (${when} UTC):`
    : `Undid turn ${turn} (${when} UTC) as turn ${undo ?? "?"}. To revert it: ${redo}`;
  const foreign = new Set(changedSince);
  const lines = files.map(
    (file) =>
      `- ${visible(file.path)}: ${descriptions[file.does]}${file.why === undefined ? "" : ` (${file.why})`}${foreign.has(file.path) ? " [changed by another person or program since]" : ""}`,
  );
  return [head, ...lines, ...remainsLines(remains), ...diffLines(files, maxDiffChars)].join("\n");
}

function remainsLines({ lines, later }: UndoReport["remains"]): string[] {
  return [
    ...(lines.length === 0 ? [] : ["Cannot be undone:", ...lines.map((line) => `- ${line}`)]),
    ...(later === 0 ? [] : [`${later} more such ${later === 1 ? "action" : "actions"} followed after that turn.`]),
  ];
}

export function diffLines(files: readonly UndoneFile[], maxChars: number): string[] {
  const whole = files.flatMap(({ diff }) => (diff === undefined ? [] : [diff])).join("\n");
  if (whole === "") return [];
  const cut = whole.length > maxChars ? `${whole.slice(0, maxChars).toWellFormed()}\n… (the rest is omitted)` : whole;
  return ["```diff", cut.replaceAll("```", "` ` `"), "```"];
}

export function turnsText(turns: readonly KeptTurn[]): string {
  if (turns.length === 0) return "No undo history: no turn of this session has changed a file yet.";
  return turns.map(lineOf).join("\n");
}

function lineOf({ turn, at, undone, undoes, files }: KeptTurn): string {
  const when = new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const names = files.slice(0, 3).map((path) => visible(path, 100));
  const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
  const state = undone ? ", undone" : "";
  return `${turn}  ${when}  ${undoes === undefined ? "" : `undo of ${undoes}: `}${names.join(", ")}${more}${state}`;
}
