// Tests whether any sandbox backend works on this machine, for the first config, doctor and audit.
import { rmSync } from "node:fs";

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import { createBackends } from "./backends.ts";
import type { BackendChoice } from "../sandbox-settings.ts";

export type SandboxWorks =
  | { readonly backend: "docker" | "bubblewrap" }
  | { readonly reason: string; readonly fix: string };

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
  const reasons: string[] = [];
  const fixes: string[] = [];
  try {
    for (const backend of backends.all.filter(({ kind }) => choice === "auto" || kind === choice)) {
      const answer = await backend.works();
      if (answer.works) return { backend: backend.kind };
      reasons.push(`${backend.kind}: ${answer.reason}`);
      fixes.push(answer.fix);
    }
    return { reason: reasons.join("; "), fix: fixes.join("; or ") };
  } finally {
    await backends.close();
    rmSync(deps.folder, { recursive: true, force: true });
  }
}
