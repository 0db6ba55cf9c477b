// Tests whether any sandbox backend works on this machine, for the first config, doctor and audit.
import { rmSync } from "node:fs";

import type { SandboxBackend } from "../../core/sandbox-backend.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import { createBackends } from "./backends.ts";
import type { BackendChoice } from "../sandbox-settings.ts";
import { findWorkingBackend } from "./choose-backend.ts";

export type SandboxWorks = { readonly backend: SandboxBackend } | { readonly reason: string; readonly fix: string };

export interface DetectDeps {
  /** Created and removed by the test. */
  readonly folder: string;
  readonly env: Env;
  readonly log: Log;
  readonly clock: Clock;
}

/** Tests by real runs, in the order of `auto`. Never throws. */
export async function sandboxWorks(deps: DetectDeps, choice: BackendChoice = "auto"): Promise<SandboxWorks> {
  const backends = createBackends(deps);
  try {
    const { backend, tried, fixes } = await findWorkingBackend(backends.all, choice);
    if (backend !== undefined) return { backend: backend.kind };
    return { reason: tried.join("; "), fix: fixes.join("; or ") };
  } finally {
    await backends.close();
    rmSync(deps.folder, { recursive: true, force: true });
  }
}
