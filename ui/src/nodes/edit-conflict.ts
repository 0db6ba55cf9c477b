// Whether the gateway refused an edit because somebody else changed the file since it was read.
import { OpenClawError } from "../../../src/core/error.ts";

/** By its sentences, which published clients match on too: the wire has no code of its own for them. */
export function isEditConflict(error: unknown): boolean {
  return (
    error instanceof OpenClawError &&
    (/changed since last load/.test(error.message) || /has changed since it was read/.test(error.message))
  );
}
