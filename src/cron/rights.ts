// Which jobs an agent can change by itself, and which changes need the owner's approval.
import { OpenClawError } from "../core/error.ts";
import type { SessionKey } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { mayCross } from "../session/visibility.ts";
import type { CronAsker, CronChange } from "./agent-cron.ts";
import { checkJob } from "./check.ts";
import type { Job, JobBody } from "./job.ts";
import { normalizeJob } from "./normalize.ts";
import { patched } from "./patch.ts";
import { agentOf, mainOf } from "./perform.ts";

/** An agent reaches its own jobs, and those of agents it can exchange messages with (`tools.agentToAgent`). */
export function mayTouch(job: JobBody, { agent }: Pick<CronAsker, "agent">, config: Config): boolean {
  const owner = agentOf(job, config);
  return owner === agent || mayCross(agent, owner, config);
}

export interface RightsContext {
  readonly config: Config;
  readonly now: number;
  readonly isSandboxed: (session: SessionKey) => boolean;
}

/**
 * A job runs under the rules of its agent, not under those of the chat that asked for it. Undefined when the job can do
 * no more than the asker; else the reason why the owner decides. Throws `cron.invalid`.
 */
export function reachOf(
  change: CronChange,
  job: Job | undefined,
  asker: CronAsker,
  { config, now, isSandboxed }: RightsContext,
): string | undefined {
  if (job !== undefined && agentOf(job, config) !== asker.agent) return `it is a job of agent ${agentOf(job, config)}`;
  if (change.action === "remove") return undefined;
  const body =
    change.action === "add"
      ? withAgent(checkJob(normalizeJob(change.job), config, now), asker)
      : patched(definitionOf(job), change.patch, config, now);
  const owner = agentOf(body, config);
  if (owner !== asker.agent) return `it would run as agent ${owner}`;
  const { payload } = body;
  const target = (change.action === "add" ? change.session : job?.sessionKey) ?? mainOf(body, config);
  const tool = payload.kind === "exec" ? "exec" : payload.kind === "tool" ? payload.tool : undefined;
  if (tool !== undefined && !asker.allows(tool)) return `it would use ${tool}, which the requester cannot use`;
  const leavesSandbox = asker.sandboxed && payload.kind === "systemEvent" && !isSandboxed(target);
  return leavesSandbox ? "it would post from a sandbox to the main session, which is not sandboxed" : undefined;
}

function withAgent(body: JobBody, { agent }: CronAsker): JobBody {
  return body.agentId === undefined ? { ...body, agentId: agent } : body;
}

/** A job without the fields that its runs change. */
export function definitionOf(job: Job | undefined): JobBody {
  if (job === undefined) throw new TypeError("a change needs the job it changes");
  const { id: _id, createdAtMs: _created, updatedAtMs: _updated, state: _state, ...body } = job;
  return body;
}

export function ownerOnly(what: string): OpenClawError {
  return new OpenClawError(
    "cron.owner-only",
    `only the owner can ${what}, and this turn does not come from the owner alone`,
    {
      hint: "openclaw cron run <id>",
      details: { refused: true },
    },
  );
}
