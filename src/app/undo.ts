// Connects undo to the runtime: records and reverts changes to files; loads with the first change.
import { join } from "node:path";

import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import { forwardTo, lazy } from "../base/lazy.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import type { Store } from "../store/store.ts";
import type { Catalog } from "../tool/catalog.ts";
import { subjectOf } from "../tool/subject.ts";
import type { Undo } from "../tool/undo/undo.ts";
import { fileDeps, withFiles, type FilePorts } from "./catalog.ts";

export interface OpenUndo extends Undo {
  /** What the file tools use. */
  readonly ports: FilePorts;
}

export interface UndoRuntime {
  readonly paths: Paths;
  readonly store: Store;
  readonly mask: Mask;
  readonly log: Log;
  readonly config: () => Config;
  /** Created after this, because its tools record what they change. */
  readonly catalog: () => Catalog;
}

export function openUndo({ paths, store, mask, log, config, catalog }: UndoRuntime): OpenUndo {
  const lanes = createLanes();
  const { get: engine } = lazy(async () => {
    const { createUndoEngine } = await import("../tool/undo/engine.ts");
    return createUndoEngine({
      base: join(paths.state, "undo"),
      journal: store.journal,
      clock: systemClock,
      mask,
      log: log.child("undo"),
      withFiles(session, places, use) {
        const subject = subjectOf({ sessionKey: session }, config());
        const call = { ...catalog().surroundings(subject), sandboxed: subject.sandboxed };
        return withFiles(fileDeps(paths, { lanes }), call, places, use);
      },
    });
  });
  return {
    ports: { lanes, fileSaver: { before: async (...change) => (await engine()).fileSaver.before(...change) } },
    ...forwardTo(engine, "list", "undo", "forget"),
  };
}
