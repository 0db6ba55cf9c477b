// The list of backends, in the order in which `auto` tries them.
import { join } from "node:path";

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import { createDocker } from "./docker.ts";
import { createNameProtection } from "./readonly-names.ts";
import type { Backend } from "./spec.ts";

export interface BackendDeps {
  /** A private folder for sandboxes and their files. */
  readonly folder: string;
  readonly env: Env;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Backends {
  readonly all: readonly Backend[];
  close(): Promise<void>;
}

export function createBackends({ folder, env, log, clock }: BackendDeps): Backends {
  // Shared, because both backends may work in the same workspace.
  const nameProtection = createNameProtection(join(folder, ".shields"), log);
  const all = [
    createBubblewrap({
      nameProtection,
      folder: join(folder, ".bubblewrap"),
      path: env["PATH"] ?? "/usr/bin:/bin",
      log,
    }),
    createDocker({ nameProtection, folder: join(folder, ".docker"), env, log, clock }),
  ];
  return {
    all,
    async close() {
      for (const backend of all) await backend.close();
      nameProtection.close();
    },
  };
}
