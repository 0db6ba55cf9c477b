// Applies a patch to a job. Pure.
import { isRecord } from "../core/record.ts";
import type { Config } from "../config/schema/index.ts";
import { checkJob } from "./check.ts";
import type { JobBody } from "./job.ts";
import { normalizePatch, type Raw } from "./normalize.ts";

/** Fields that the patch does not name stay. Throws `cron.invalid`. */
export function patched(body: JobBody, input: unknown, config: Config, now: number): JobBody {
  const patch = normalizePatch(input);
  const schedule = patch["schedule"] === undefined ? body.schedule : mergedSchedule(body.schedule, patch["schedule"]);
  const isEnabling = patch["enabled"] === true && !body.enabled;
  const payload = merged(body.payload, patch["payload"]);
  const target = patch["sessionTarget"] ?? targetFor(body, payload);
  // A job of a removed agent can still be changed, and callers cannot set the session.
  const { agentId, sessionKey, ...rest } = body;
  const raw: Raw = {
    ...rest,
    ...patch,
    schedule,
    payload,
    sessionTarget: target,
    delivery:
      target === "main" ? patch["delivery"] : (merged(body.delivery, patch["delivery"]) ?? { mode: "announce" }),
  };
  const checked = checkJob(raw, config, now, patch["schedule"] === undefined && !isEnabling);
  if (patch["agentId"] !== undefined) return checked;
  return {
    ...checked,
    ...(agentId === undefined ? {} : { agentId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
  };
}

/** A payload of another kind also changes the session target, unless the caller names one. */
function targetFor({ payload: before, sessionTarget }: JobBody, payload: unknown): string {
  const kind = isRecord(payload) ? payload["kind"] : undefined;
  if (kind === before.kind) return sessionTarget;
  return kind === "systemEvent" ? "main" : "isolated";
}

/** A patch of the same kind changes fields, and `null` clears one; another kind replaces the payload. */
function merged(before: object | undefined, patch: unknown): unknown {
  if (patch === undefined) return before;
  if (!isRecord(patch) || before === undefined) return patch;
  const known = before as Raw;
  if (patch["kind"] !== undefined && patch["kind"] !== known["kind"]) return patch;
  return Object.fromEntries(Object.entries({ ...known, ...patch }).filter(([, value]) => value !== null));
}

/** The same interval keeps its anchor. */
function mergedSchedule(before: object, patch: unknown): unknown {
  const known = before as Raw;
  if (!isRecord(patch) || patch["kind"] !== "every" || patch["everyMs"] !== known["everyMs"]) return patch;
  return { ...patch, anchorMs: patch["anchorMs"] ?? known["anchorMs"] };
}

export function isMoreOften(before: JobBody, after: JobBody): boolean {
  return JSON.stringify(before.schedule) !== JSON.stringify(after.schedule) || (after.enabled && !before.enabled);
}
