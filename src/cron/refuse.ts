// How a job or a request about one is turned down: one kind of error, with what mends it.
import { HouseError } from "../core/error.ts";

export function refuse(message: string, hint?: string): HouseError {
  return new HouseError("cron.invalid", message, hint === undefined ? {} : { hint });
}

export function unknownJob(id: string): HouseError {
  return new HouseError("cron.unknown-job", `unknown cron job id: ${id.slice(0, 80)}`, {
    hint: "openclaw cron list --all",
  });
}
