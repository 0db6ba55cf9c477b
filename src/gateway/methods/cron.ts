// Scheduled jobs for clients.
import { OpenClawError } from "../../core/error.ts";
import type { Mask } from "../../base/mask.ts";
import type { Cron } from "../../cron/cron.ts";
import type { RunEntry } from "../../cron/entry.ts";
import type { Job } from "../../cron/job.ts";
import * as methods from "../../protocol/methods/cron.ts";
import { holdsScope } from "../../protocol/scope.ts";
import type { Client } from "../client.ts";
import { serve, type Served } from "../dispatch.ts";

const DEFAULT_RUNS = 50;
const DEFAULT_LINES = 200;
const PREVIEWED = 5;

export function cronMethods(cron: Cron, storeFile: string, mask: Mask): Served[] {
  /** Clients without `operator.admin` get jobs with secrets redacted, as with the config. */
  const redactionFor = async ({ scopes }: Client): Promise<Redaction> => {
    if (holdsScope(scopes, "operator.admin")) return unredacted;
    const { redactEntry, redactJob, redactText } = await import("../../cron/redact-job.ts");
    return {
      job: (job) => redactJob(job, mask),
      entry: (entry) => redactEntry(entry, mask),
      text: (text) => redactText(text, mask),
    };
  };
  return [
    serve(methods.cronStatus)(async () => {
      const { enabled, ...rest } = await cron.status();
      return { enabled, storePath: storeFile, ...rest };
    }),
    serve(methods.cronList)(async (options, client) => {
      const redact = await redactionFor(client);
      return { jobs: (await cron.list(options)).map(redact.job) };
    }),
    serve(methods.cronAdd)((job) => cron.add(job)),
    serve(methods.cronUpdate)((params) => cron.update(idOf(params), params.patch)),
    serve(methods.cronRemove)((params) => cron.remove(idOf(params))),
    // Responds when the run is over, because clients read the runs next.
    serve(methods.cronRun)(async (params) => {
      const { ended, ...answer } = await cron.run(idOf(params), params.mode ?? "force");
      await ended;
      return answer;
    }),
    serve(methods.cronRuns)(async (params, client) => {
      const redact = await redactionFor(client);
      const { slot, offset = 0, limit = DEFAULT_LINES } = params;
      if (slot !== undefined) {
        const { text, ...page } = await cron.output(idOf(params), slot, { offset, limit });
        return { slot, ...page, text: redact.text(text) };
      }
      return { entries: (await cron.runs(idOf(params), params.limit ?? DEFAULT_RUNS)).map(redact.entry) };
    }),
    serve(methods.cronPreview)(async ({ job, count = PREVIEWED, ...named }, client) => {
      const redact = await redactionFor(client);
      const preview = await cron.preview(job ?? { id: idOf(named) }, count);
      return { ...preview, ...(preview.job === undefined ? {} : { job: redact.job(preview.job) }) };
    }),
  ];
}

interface Redaction {
  readonly job: (job: Job) => Job;
  readonly entry: (entry: RunEntry) => RunEntry;
  readonly text: (text: string) => string;
}

const unredacted: Redaction = { job: (job) => job, entry: (entry) => entry, text: (text) => text };

function idOf({ id, jobId }: { readonly id?: string; readonly jobId?: string }): string {
  const found = id ?? jobId;
  if (found !== undefined) return found;
  throw new OpenClawError("wire.invalid-request", "must have required property 'id'");
}
