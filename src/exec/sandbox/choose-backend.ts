// Chooses the backend of a sandbox: the configured one, or the first that works.
import { OpenClawError } from "../../core/error.ts";
import type { SandboxSettings } from "../sandbox-settings.ts";
import type { Backend } from "./spec.ts";

/**
 * Throws `sandbox.unavailable`; a failed sandbox never means a run on the host
 * (docs/decisions/0010-sandbox-backends.md).
 */
export async function chooseBackend(
  { backend: choice, docker }: Pick<SandboxSettings, "backend" | "docker">,
  backends: readonly Backend[],
): Promise<Backend> {
  // Only docker can provide a network.
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
    `no sandbox backend works on this machine, so the command was not run (${tried.join("; ")})`,
    {
      hint: `${fixes.join("; or ")}; or run without a sandbox: openclaw config set agents.defaults.sandbox.mode off`,
      details: { tried },
    },
  );
}
