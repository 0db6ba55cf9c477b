// Taking back what a turn did to files, as clients ask for it. Ours.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

/** Writes files of the workspace over what is there, so it needs what deleting a session needs. */
export const sessionsUndo = method(
  "sessions.undo",
  "operator.admin",
  Type.Object(
    {
      key: maybe(word),
      turn: maybe(Type.Integer({ minimum: 1 })),
      redo: maybe(Type.Boolean()),
      list: maybe(Type.Boolean()),
      dryRun: maybe(Type.Boolean()),
      force: maybe(Type.Boolean()),
    },
    closed,
  ),
  { announced: false },
);
