// Imports the jobs of an older `cron/jobs.json` once; the file stays unchanged.
import { readFileSync } from "node:fs";

import { errnoOf } from "../core/error.ts";
import { parseAgentId } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { newId } from "../base/ids.ts";
import type { JobRecord } from "../store/store.ts";
import { checkJob } from "./check.ts";
import type { CronDeps } from "./deps.ts";
import type { JobBody, JobState } from "./job.ts";
import { normalizeJob, type Raw } from "./normalize.ts";
import { nextFire } from "./schedule.ts";

const SPACE = "cron";
const MARK = "older-jobs";
const MAX_BYTES = 64 * 1024 * 1024;

/** The number of imported jobs; undefined when there is nothing to import. */
export async function importLegacyJobs(deps: CronDeps): Promise<number | undefined> {
  const { kv, jobs } = deps.store;
  if ((await kv.get(SPACE, MARK)) !== undefined) return undefined;
  const found = readOlder(deps);
  if (found === undefined) return undefined;
  const now = deps.clock.now();
  const records = found.flatMap((raw) => toRecord(deps, raw, now));
  for (const record of records) if ((await jobs.get(record.id)) === undefined) await jobs.put(record);
  await kv.set(SPACE, MARK, {
    at: now,
    file: deps.olderFile,
    jobs: records.length,
    refused: found.length - records.length,
  });
  deps.log.info(`cron: imported ${records.length} jobs from ${deps.olderFile}; the file stays unchanged`);
  return records.length;
}

function readOlder({ olderFile, log }: CronDeps): readonly unknown[] | undefined {
  try {
    const text = readFileSync(olderFile, "utf8");
    const parsed: unknown = text.length > MAX_BYTES ? undefined : JSON.parse(text);
    const jobs = isRecord(parsed) ? parsed["jobs"] : parsed;
    if (Array.isArray(jobs)) return jobs;
    log.warn(`cron: ${olderFile} contains no list of jobs and is ignored`);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") log.warn(`cron: ${olderFile} cannot be read and is ignored`, { error });
  }
  return undefined;
}

function toRecord(deps: CronDeps, raw: unknown, now: number): JobRecord[] {
  try {
    if (!isRecord(raw)) return [];
    // A job of an unknown agent is imported too; its runs fail with the reason.
    const { agentId, ...job } = normalizeJob(raw);
    const owner = typeof agentId === "string" && agentId !== "" ? { agentId: parseAgentId(agentId) } : {};
    const body: JobBody = { ...checkJob(withAnchor(job, raw), deps.config(), now, true), ...owner };
    const before = isRecord(raw["state"]) ? raw["state"] : {};
    const nextAt = body.enabled ? nextOf(body, before, now) : undefined;
    const isOver = nextAt === undefined;
    return [
      {
        id: idOf(raw["id"] ?? raw["jobId"]),
        ...(isOver ? {} : { nextAt }),
        createdAt: whole(raw["createdAtMs"]) ?? now,
        updatedAt: whole(raw["updatedAtMs"]) ?? now,
        body: isOver ? { ...body, enabled: false } : body,
        state: stateOf(before),
      },
    ];
  } catch (error) {
    const name = isRecord(raw) && typeof raw["name"] === "string" ? raw["name"].slice(0, 80) : "a job";
    deps.log.warn("cron: an older job cannot be imported", { name, error });
    return [];
  }
}

/** Without an anchor an interval counts from the creation of the job. */
function withAnchor(job: Raw, raw: Raw): Raw {
  const { schedule } = job;
  if (!isRecord(schedule) || schedule["kind"] !== "every" || schedule["anchorMs"] !== undefined) return job;
  const anchorMs = whole(raw["createdAtMs"]);
  return anchorMs === undefined ? job : { ...job, schedule: { ...schedule, anchorMs } };
}

/** A missed slot is handled by the misfire rule of the job. */
function nextOf(body: JobBody, before: Raw, now: number): number | undefined {
  const planned = whole(before["nextRunAtMs"]);
  if (planned !== undefined && planned <= now) return planned;
  return nextFire(body.schedule, now);
}

function stateOf(before: Raw): JobState {
  const { lastStatus, lastError } = before;
  const [lastRunAtMs, lastDurationMs] = [whole(before["lastRunAtMs"]), whole(before["lastDurationMs"])];
  return {
    ...(lastRunAtMs === undefined ? {} : { lastRunAtMs }),
    ...(lastStatus === "ok" || lastStatus === "error" || lastStatus === "skipped" ? { lastStatus } : {}),
    ...(typeof lastError === "string" ? { lastError: lastError.slice(0, 2000).toWellFormed() } : {}),
    ...(lastDurationMs === undefined ? {} : { lastDurationMs }),
  };
}

/** The id becomes part of a session key. */
function idOf(given: unknown): string {
  return typeof given === "string" && /^[a-z0-9][a-z0-9_-]{0,63}$/.test(given) ? given : newId();
}

function whole(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
