// Jobs at set times, for clients.
import { HouseError } from "../../core/error.ts";
import type { Cron } from "../../cron/cron.ts";
import * as methods from "../../protocol/methods/cron.ts";
import { serve, type Served } from "../dispatch.ts";

const DEFAULT_RUNS = 50;
const PREVIEWED = 5;

export function cronMethods(cron: Cron, storeFile: string): Served[] {
  return [
    serve(methods.cronStatus, async () => {
      const { enabled, ...rest } = await cron.status();
      return { enabled, storePath: storeFile, ...rest };
    }),
    serve(methods.cronList, async (options) => ({ jobs: await cron.list(options) })),
    serve(methods.cronAdd, (job) => cron.add(job)),
    serve(methods.cronUpdate, (params) => cron.update(idOf(params), params.patch)),
    serve(methods.cronRemove, (params) => cron.remove(idOf(params))),
    // Clients look at the runs right after: they are answered when it is over.
    serve(methods.cronRun, async (params) => {
      const { ended, ...answer } = await cron.run(idOf(params), params.mode ?? "force");
      await ended;
      return answer;
    }),
    serve(methods.cronRuns, async (params) => ({
      entries: await cron.runs(idOf(params), params.limit ?? DEFAULT_RUNS),
    })),
    serve(methods.cronPreview, ({ job, count = PREVIEWED, ...named }) =>
      cron.preview(job ?? { id: idOf(named) }, count),
    ),
  ];
}

function idOf({ id, jobId }: { readonly id?: string; readonly jobId?: string }): string {
  const found = id ?? jobId;
  if (found !== undefined) return found;
  throw new HouseError("wire.invalid-request", "must have required property 'id'");
}
