// Ours: undoing the file changes of a turn.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";

/** Overwrites files of the workspace, so it needs the same scope as deleting a session. */
export const sessionsUndo = method(
  "sessions.undo",
  "operator.admin",
  Type.Object(
    {
      key: optional(nonEmpty),
      turn: optional(Type.Integer({ minimum: 1 })),
      redo: optional(Type.Boolean()),
      list: optional(Type.Boolean()),
      dryRun: optional(Type.Boolean()),
      force: optional(Type.Boolean()),
    },
    closed,
  ),
  returns<UndoList | UndoResult>(),
  { announced: false },
);

export interface UndoList {
  readonly ok: true;
  readonly key: string;
  readonly turns: readonly KeptTurn[];
}

export interface KeptTurn {
  readonly turn: number;
  readonly at: number;
  readonly id: string;
  readonly undone: boolean;
  readonly undoes?: number;
  readonly files: readonly string[];
}

export type UndoResult = UndoReport & { readonly ok: true };

export interface UndoReport {
  readonly session: string;
  /** The turn that was undone, and when it began. */
  readonly turn: number;
  readonly at: number;
  readonly dryRun: boolean;
  /** The number of the undo itself; absent in a dry run. */
  readonly undo?: number;
  readonly files: readonly UndoneFile[];
  readonly changedSince: readonly string[];
  readonly remains: Remains;
}

export interface UndoneFile {
  readonly path: string;
  /** `same`: it already has its former content. `not-kept`: its former content is not known, so it stays as it is. */
  readonly does: "restored" | "removed" | "recreated" | "same" | "not-kept";
  /** From the current content to the former one; bounded. */
  readonly diff?: string;
  readonly why?: string;
}

/** Effects that an undo of files does not reverse. */
export interface Remains {
  /** One line each: commands run, messages sent, settings and jobs changed. */
  readonly lines: readonly string[];
  /** How many such effects happened in this session after that turn. */
  readonly later: number;
}
