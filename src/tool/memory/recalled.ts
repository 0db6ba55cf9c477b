// Recalled text as a result: programs get it as it is; a model gets it marked as material, its markers without force.
import { neutralise, wrapUntrusted } from "../../base/untrusted-content.ts";
import type { ToolResult } from "../tool.ts";

export function recalled<D>(details: D, source: string): ToolResult<D> {
  const shown = JSON.stringify(
    details,
    (_key, value: unknown) => (typeof value === "string" ? neutralise(value) : value),
    2,
  );
  return { content: [{ type: "text", text: wrapUntrusted(shown, source) }], details };
}
