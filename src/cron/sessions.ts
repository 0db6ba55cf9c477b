// Sessions of jobs: one per run and one alias for the latest; older ones are deleted.
import type { SessionKey } from "../core/names.ts";
import { newSession } from "../session/session.ts";
import type { CronDeps } from "./deps.ts";
import { bodyOf } from "./job.ts";
import { agentOf, type Run } from "./perform.ts";

const KEEP_SESSIONS = 30;
/** Rows of missed slots are between those of runs. */
const LOOK_BACK = 150;

/** `agent:<id>:cron:<jobId>` shows the last run. */
export async function keepSession(deps: CronDeps, { job, slot }: Run, sessionId: string): Promise<void> {
  const { sessions } = deps.store;
  if (slot.sessionKey === undefined) return;
  const body = bodyOf(job);
  const now = deps.clock.now();
  const key = `agent:${agentOf(body, deps.config())}:cron:${job.id}` as SessionKey;
  const latest = await sessions.get(slot.sessionKey as SessionKey);
  await sessions.update(key, (current) => ({
    ...(current ?? newSession(key, now)),
    ...(latest === undefined ? {} : { entry: latest.entry }),
    sessionId,
    updatedAt: now,
  }));
  const old = await deps.store.slots.list(job.id, LOOK_BACK, KEEP_SESSIONS);
  for (const { sessionKey } of old) {
    if (sessionKey === undefined || (await sessions.get(sessionKey as SessionKey)) === undefined) continue;
    await sessions.delete(sessionKey as SessionKey, { transcript: true });
  }
}
