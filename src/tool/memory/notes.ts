// What both memory tools share: whether the agent has a memory, and notes marked as untrusted for models.
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";
import { disabledBy } from "../../memory/settings.ts";
import type { Availability, ToolEnv, ToolResult } from "../tool.ts";

export function memoryAvailable({ config, agent }: ToolEnv): Availability {
  const closed = disabledBy(config, agent);
  return closed === undefined ? { available: true } : { available: false, ...closed };
}

/** Programs get `details` unchanged. */
export function toNoteResult<D>(details: D, source: string): ToolResult<D> {
  const shown = JSON.stringify(
    details,
    (_key, value: unknown) => (typeof value === "string" ? neutralize(value) : value),
    2,
  );
  return { content: [{ type: "text", text: wrapUntrusted(shown, source) }], details };
}
