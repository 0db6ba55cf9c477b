// Recognizes an edit that was rejected because the file changed since it was loaded.
import { OpenClawError } from "../../../src/core/error.ts";
import { readRefusal } from "../../../src/protocol/refusal.ts";
import { textOf } from "../credential.ts";

export function isEditConflict(error: unknown): boolean {
  if (!(error instanceof OpenClawError)) return false;
  return readRefusal(error).kind === "stale" || textOf(error.details, "code") === "config.conflict";
}
