// The approval card of a job change: what the job does, when, and who asked for it.
import { isRecord } from "../core/record.ts";
import type { CronAsker, CronChange } from "./agent-cron.ts";
import type { Job } from "./job.ts";
import { normalizeJob, normalizePatch } from "./normalize.ts";
import type { ApprovalCard } from "../protocol/approval.ts";

export function cronCard(change: CronChange, asker: CronAsker, job: Job | undefined, reach?: string): ApprovalCard {
  const requested = requestedJob(change);
  const name = job?.name ?? (typeof requested["name"] === "string" ? requested["name"] : "a job");
  return {
    title: `${titles[change.action]} ${name}`.slice(0, 120).toWellFormed(),
    text: JSON.stringify(change.action === "remove" ? { remove: job?.id } : requested, null, 2),
    rows: [
      ...(job === undefined ? [] : [{ label: "job", value: job.id }]),
      ...(isRecord(requested["schedule"]) ? [{ label: "when", value: JSON.stringify(requested["schedule"]) }] : []),
      { label: "agent", value: asker.agent },
      { label: "session", value: asker.session },
      {
        label: "why you are asked",
        value: reach ?? "the request does not come from you alone, and a job outlives the turn",
      },
    ],
  };
}

const titles = { add: "Add the job", update: "Change the job", remove: "Remove the job" } as const;

function requestedJob(change: CronChange): Readonly<Record<string, unknown>> {
  if (change.action === "add") return normalizeJob(change.job);
  return change.action === "update" ? normalizePatch(change.patch) : {};
}
