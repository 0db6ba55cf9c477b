// The backends there are, in the order `auto` tries them.
import { join } from "node:path";

import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import type { Backend } from "./spec.ts";

export interface BackendDeps {
  /** Private folder for boxes and what belongs to them. */
  readonly folder: string;
  readonly env: Env;
  readonly log: Log;
}

export function createBackends({ folder, env, log }: BackendDeps): readonly Backend[] {
  return [createBubblewrap({ folder: join(folder, ".bubblewrap"), path: env["PATH"] ?? "/usr/bin:/bin", log })];
}
