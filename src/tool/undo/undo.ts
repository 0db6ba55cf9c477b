// Undoes the file changes of a turn, all or none, as a turn that can be undone itself.
import { rm } from "node:fs/promises";

import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import type { AgentId, SessionKey } from "../../core/names.ts";
import type { Batches } from "../../base/batch.ts";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Mask } from "../../base/mask.ts";
import type { Root } from "../../base/rooted-fs.ts";
import type { JournalEntry, JournalTable } from "../../store/store.ts";
import { chooseTurn, toTurnStates, type TurnState, type TurnRequest } from "./choose.ts";
import type { UndoFileSaver } from "./file-saver.ts";
import { planUndo, type UndoPlan } from "./plan.ts";
import { readTurn, sessionFolder, turnNumbers, type Turn } from "./record.ts";
import { remainsOf } from "./remains.ts";
import type { KeptTurn, UndoReport } from "../../protocol/methods/undo.ts";

export type { KeptTurn, UndoReport };

export interface UndoDeps {
  /** `<state>/undo` */
  readonly base: string;
  readonly fileSaver: UndoFileSaver;
  readonly journal: JournalTable;
  readonly clock: Clock;
  readonly mask: Mask;
  /** Opens what file tools of that session may use now and locks the files while `use` works. */
  withFiles<T>(
    session: SessionKey,
    paths: readonly string[],
    use: (root: Root, batches: Batches) => Promise<T>,
  ): Promise<T>;
}

export interface UndoRequest extends TurnRequest {
  readonly dryRun?: boolean | undefined;
  /** Also overwrites what others wrote since. */
  readonly force?: boolean | undefined;
}

export interface UndoWho {
  readonly session: SessionKey;
  readonly agent: AgentId;
  /** The caller, for the journal. */
  readonly caller: string;
}

export interface Undo {
  /** Newest first. */
  list(session: SessionKey): Promise<KeptTurn[]>;
  /** Throws `undo.*` and `fs.*`; then nothing was changed. */
  undo(who: UndoWho, request: UndoRequest): Promise<UndoReport>;
  /** Deletes the copies of a deleted session. */
  forget(session: SessionKey): Promise<void>;
}

export function createUndo(deps: UndoDeps): Undo {
  return {
    async list(session) {
      const all = await readTurnStates(deps, session);
      return all.toReversed().map(toKept);
    },
    async undo(who, request) {
      const turn = chooseTurn(await readTurnStates(deps, who.session), request);
      return deps.withFiles(who.session, [...turn.files.keys()], (root, batches) =>
        takeBack(deps, who, request, turn, { root, batches }),
      );
    },
    async forget(session) {
      await rm(sessionFolder(deps.base, session), { recursive: true, force: true });
    },
  };
}

async function readTurnStates({ base }: UndoDeps, session: SessionKey): Promise<TurnState[]> {
  const folder = sessionFolder(base, session);
  const turns: Turn[] = [];
  for (const seq of await turnNumbers(folder)) {
    const turn = await readTurn(folder, seq);
    // An interrupted undo changed nothing: the recovery of files reverted it.
    if (turn !== undefined && (turn.head.undoes === undefined || turn.done)) turns.push(turn);
  }
  return toTurnStates(turns);
}

function toKept({ turn: { seq, head, files }, undone }: TurnState): KeptTurn {
  const { at, turn: id, undoes } = head;
  return { turn: seq, at, id, undone, ...(undoes === undefined ? {} : { undoes }), files: [...files.keys()] };
}

interface OpenFiles {
  readonly root: Root;
  readonly batches: Batches;
}

async function takeBack(
  deps: UndoDeps,
  who: UndoWho,
  { dryRun = false, force = false }: UndoRequest,
  turn: Turn,
  { root, batches }: OpenFiles,
): Promise<UndoReport> {
  const plan = masked(await planUndo(root, turn), deps.mask);
  const report = {
    session: who.session,
    turn: turn.seq,
    at: turn.head.at,
    dryRun,
    files: plan.files,
    changedSince: plan.changedSince,
    remains: await remainsOf(deps.journal, who.session, turn),
  };
  if (dryRun) return report;
  if (plan.changedSince.length > 0 && !force) throw changedSince(report);
  return { ...report, undo: await carryOut(deps, who, turn, plan, { root, batches }) };
}

async function carryOut(
  { fileSaver, journal, clock }: UndoDeps,
  { session, agent, caller }: UndoWho,
  { seq, head }: Turn,
  { changes, createdFolders }: UndoPlan,
  { root, batches }: OpenFiles,
): Promise<number> {
  const call = { session, turn: newId() };
  const entry: JournalEntry = {
    id: call.turn,
    at: clock.now(),
    tool: "undo",
    agentId: agent,
    sessionKey: session,
    caller,
    turn: call.turn,
    outcome: "started",
    intent: { does: "write", paths: changes.map(({ path }) => path).slice(0, 100) },
    args: { turn: seq, of: head.turn },
  };
  await journal.record(entry, { durable: true });
  try {
    const undo = await fileSaver.beginUndo(call, seq);
    if (changes.length > 0) {
      await fileSaver.before(
        call,
        root,
        changes.map((change) =>
          change.kind === "put"
            ? {
                path: change.path,
                after: change.bytes,
                ...(change.before === undefined ? {} : { before: change.before }),
              }
            : { path: change.path, after: undefined },
        ),
      );
      await batches.commit(root, changes);
    }
    // Folders with other content stay.
    for (const folder of createdFolders.toReversed()) await removeEmpty(root, folder);
    await undo.finish();
    await journal.record({ ...entry, outcome: "ok", durationMs: clock.now() - entry.at }, { durable: true });
    return undo.seq;
  } catch (error) {
    await journal.record({ ...entry, outcome: "error" }, { durable: true });
    throw error;
  }
}

async function removeEmpty(root: Root, folder: string): Promise<void> {
  try {
    await root.removeFolder(folder);
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
  }
}

/** A file may contain secrets that must never be printed. */
function masked(plan: UndoPlan, mask: Mask): UndoPlan {
  return {
    ...plan,
    files: plan.files.map((file) => (file.diff === undefined ? file : { ...file, diff: mask(file.diff) })),
  };
}

function changedSince(report: Omit<UndoReport, "undo">): OpenClawError {
  const names = report.changedSince.slice(0, 5).map((path) => visible(path));
  const more = report.changedSince.length > 5 ? ` and ${report.changedSince.length - 5} more` : "";
  return new OpenClawError(
    "undo.changed",
    `changed by another person or program since turn ${report.turn}: ${names.join(", ")}${more}; nothing was undone`,
    {
      hint: "check the difference; to undo anyway: /undo force, or openclaw sessions undo --force",
      details: { files: report.files, changedSince: report.changedSince },
    },
  );
}
