// Chooses the backend of a sandbox: the configured one, or the first that works.
import { OpenClawError } from "../../core/error.ts";
import type { BackendChoice, SandboxSettings } from "../sandbox-settings.ts";
import type { Backend } from "./spec.ts";

/**
 * Throws `sandbox.unavailable`; a failed sandbox never means a run on the host
 * (docs/decisions/0010-sandbox-backends.md).
 */
export async function chooseBackend(
  settings: Pick<SandboxSettings, "backend" | "docker">,
  backends: readonly Backend[],
): Promise<Backend> {
  const { backend, tried, fixes } = await findWorkingBackend(backends, backendChoice(settings));
  if (backend !== undefined) return backend;
  throw new OpenClawError(
    "sandbox.unavailable",
    `no sandbox backend works on this machine, so the command was not run (${tried.join("; ")})`,
    {
      hint: `${fixes.join("; or ")}; or run without a sandbox: openclaw config set agents.defaults.sandbox.mode off`,
      details: { tried },
    },
  );
}

/** Only docker can provide a network. */
export function backendChoice({ backend, docker }: Pick<SandboxSettings, "backend" | "docker">): BackendChoice {
  return backend === "auto" && docker.network !== "none" ? "docker" : backend;
}

export interface BackendSearch {
  readonly backend: Backend | undefined;
  /** Why each backend before it does not work, and how to fix that. */
  readonly tried: readonly string[];
  readonly fixes: readonly string[];
}

/** Tests the backends by real runs, in their order. */
export async function findWorkingBackend(backends: readonly Backend[], choice: BackendChoice): Promise<BackendSearch> {
  const tried: string[] = [];
  const fixes: string[] = [];
  for (const backend of backends.filter(({ kind }) => choice === "auto" || kind === choice)) {
    const answer = await backend.works();
    if (answer.works) return { backend, tried, fixes };
    tried.push(`${backend.kind}: ${answer.reason}`);
    fixes.push(answer.fix);
  }
  return { backend: undefined, tried, fixes };
}
