// Lists what the test could not show on this machine or with this config.
import { sandboxProbe } from "../../exec/sandbox/probe.ts";
import type { TestEnvironment } from "./environment.ts";

export async function notesOf({ runtime, sandboxed, agent }: TestEnvironment): Promise<string[]> {
  const { config } = runtime.settings.now();
  const host = config.tools?.exec?.host ?? "sandbox";
  const mode = config.agents?.defaults?.sandbox?.mode ?? "off";
  const notes: string[] = [];
  if (mode !== "off") {
    const { works, reason, fix } = await sandboxProbe(runtime.settings.loaded(), runtime.paths);
    if (!works)
      notes.push(
        `a sandbox is configured but cannot start here (${reason ?? "unknown reason"}): its cases only show that no command ran; fix: ${fix ?? "sudo apt-get install bubblewrap"}`,
      );
  }
  if (mode === "non-main" && !sandboxed)
    notes.push(`tested as the main session of agent ${agent}, which is not sandboxed; other sessions are`);
  if (host === "node")
    notes.push(
      "commands run on a node, whose own rules cannot be tested from here; run the selftest on that machine too",
    );
  notes.push("channels, models and plugins were not tested: no data left this machine");
  return notes;
}
