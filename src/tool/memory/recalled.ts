// Marks recalled notes as untrusted content for models; programs get them unchanged.
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
