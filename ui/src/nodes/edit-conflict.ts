// Recognizes an edit that was rejected because the file changed since it was loaded.
import { OpenClawError } from "../../../src/core/error.ts";

/** Matches the message, as published clients do: the wire has no error code for it. */
export function isEditConflict(error: unknown): boolean {
  return (
    error instanceof OpenClawError &&
    (/changed since last load/.test(error.message) || /has changed since it was read/.test(error.message))
  );
}
