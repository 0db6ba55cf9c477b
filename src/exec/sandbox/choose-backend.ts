// Which backend builds a box: the configured one, or the first that works. Never none: then it is an error with the fix.
import { OpenClawError } from "../../core/error.ts";
import type { SandboxSettings } from "../sandbox-settings.ts";
import type { Backend } from "./spec.ts";

/** Throws `sandbox.unavailable` (ruling 10: a sandbox that cannot start is never a silent run on the host). */
export async function chooseBackend(
  { backend: choice, docker }: Pick<SandboxSettings, "backend" | "docker">,
  backends: readonly Backend[],
): Promise<Backend> {
  // Only containers can have a network.
  const wanted = choice === "auto" && docker.network !== "none" ? "docker" : choice;
  const tried: string[] = [];
  const fixes: string[] = [];
  for (const backend of backends.filter(({ kind }) => wanted === "auto" || kind === wanted)) {
    const answer = await backend.works();
    if (answer.works) return backend;
    tried.push(`${backend.kind}: ${answer.reason}`);
    fixes.push(answer.fix);
  }
  throw new OpenClawError(
    "sandbox.unavailable",
    `no sandbox can be started, so nothing was run (${tried.join("; ")})`,
    {
      hint: `${fixes.join("; or ")}; or run without a sandbox: openclaw config set agents.defaults.sandbox.mode off`,
      details: { tried },
    },
  );
}
