// The approval card of a job change: what the job does, when, and who asked for it.
import { isRecord } from "../core/record.ts";
import type { CronAsker, CronChange } from "./agent-cron.ts";
import type { Job } from "./job.ts";
import { normaliseJob, normalisePatch } from "./normalise.ts";
import type { ApprovalCard } from "../protocol/approval.ts";

export function cronCard(change: CronChange, asker: CronAsker, job: Job | undefined, reach?: string): ApprovalCard {
  const wished = wishOf(change);
  const name = job?.name ?? (typeof wished["name"] === "string" ? wished["name"] : "a job");
  return {
    title: `${titles[change.action]} ${name}`.slice(0, 120).toWellFormed(),
    text: JSON.stringify(change.action === "remove" ? { remove: job?.id } : wished, null, 2),
    rows: [
      ...(job === undefined ? [] : [{ label: "job", value: job.id }]),
      ...(isRecord(wished["schedule"]) ? [{ label: "when", value: JSON.stringify(wished["schedule"]) }] : []),
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

function wishOf(change: CronChange): Readonly<Record<string, unknown>> {
  if (change.action === "add") return normaliseJob(change.job);
  return change.action === "update" ? normalisePatch(change.patch) : {};
}
