// An error as text for the model and as data for programs.
import type { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";

export function errorText({ message, hint }: OpenClawError): string {
  return hint === undefined ? message : `${message} (fix: ${hint})`;
}

export function errorData({ code, message, hint, details }: OpenClawError): Record<string, unknown> {
  const more = isRecord(details) ? details : {};
  return { code, reason: message, ...(hint === undefined ? {} : { hint }), ...more };
}
