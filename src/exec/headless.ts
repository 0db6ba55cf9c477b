// Sessions nobody sits in front of: a question there would wait for nobody, so the rules answer it.
import { sessionKindOf, type SessionKey } from "../core/names.ts";

export function isHeadless(session: SessionKey): boolean {
  return sessionKindOf(session) === "cron";
}
