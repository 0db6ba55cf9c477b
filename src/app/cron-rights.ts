// Whose jobs an agent may touch, and which of its wishes reach further than it does itself: those are the owner's.
import { OpenClawError } from "../core/error.ts";
import type { Config } from "../config/schema/index.ts";
import type { CronAsker, CronChange } from "../cron/agent-cron.ts";
import { checkJob } from "../cron/check.ts";
import type { Job, JobBody } from "../cron/job.ts";
import { normaliseJob } from "../cron/normalise.ts";
import { patched } from "../cron/patch.ts";
import { agentOf, mainOf } from "../cron/perform.ts";
import { mayCross } from "../session/visibility.ts";
import { subjectOf } from "../tool/subject.ts";

/** Its own, and those of agents it may talk with (`tools.agentToAgent`). */
export function mayTouch(job: JobBody, { agent }: Pick<CronAsker, "agent">, config: Config): boolean {
  const owner = agentOf(job, config);
  return owner === agent || mayCross(agent, owner, config);
}

/**
 * A job runs under the rules of its agent, not under those of the chat that asked for it. Undefined when it can do no
 * more than the asker; else why the owner decides. Throws `cron.invalid` for a job that cannot be.
 */
export function reachOf(
  change: CronChange,
  job: Job | undefined,
  asker: CronAsker,
  config: Config,
  now: number,
): string | undefined {
  if (job !== undefined && agentOf(job, config) !== asker.agent) return `it is a job of agent ${agentOf(job, config)}`;
  if (change.action === "remove") return undefined;
  const body =
    change.action === "add"
      ? withAgent(checkJob(normaliseJob(change.job), config, now), asker)
      : patched(bodyOf(job), change.patch, config, now);
  const owner = agentOf(body, config);
  if (owner !== asker.agent) return `it would run as agent ${owner}`;
  const { payload } = body;
  const home = (change.action === "add" ? change.session : job?.sessionKey) ?? mainOf(body, config);
  const tool = payload.kind === "exec" ? "exec" : payload.kind === "tool" ? payload.tool : undefined;
  if (tool !== undefined && !asker.allows(tool)) return `it would use ${tool}, which the asker may not`;
  const leavesBox =
    asker.sandboxed && payload.kind === "systemEvent" && !subjectOf({ sessionKey: home }, config).sandboxed;
  return leavesBox ? "it would speak to the main session, which is not sandboxed, from a sandbox" : undefined;
}

function withAgent(body: JobBody, { agent }: CronAsker): JobBody {
  return body.agentId === undefined ? { ...body, agentId: agent } : body;
}

/** A job without what changes by itself. */
export function bodyOf(job: Job | undefined): JobBody {
  if (job === undefined) throw new TypeError("a change needs the job it changes");
  const { id: _id, createdAtMs: _created, updatedAtMs: _updated, state: _state, ...body } = job;
  return body;
}

export function notOwners(what: string): OpenClawError {
  return new OpenClawError(
    "cron.owner-only",
    `${what} only when the owner asks for it, and this turn has other words in it`,
    {
      hint: "openclaw cron run <id>",
      details: { refused: true },
    },
  );
}
