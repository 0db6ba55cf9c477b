// The thread's side of extraction: one answer for each job.
import { parentPort } from "node:worker_threads";

import { OpenClawError } from "../../core/error.ts";
import type { Extracted, Job, Reply, Rows } from "./job.ts";

export function serve(read: (job: Job) => Extracted | Rows | Promise<Extracted | Rows>): void {
  const port = parentPort;
  if (port === null) throw new Error("extraction runs in a thread");
  port.on("message", ({ id, job }: { readonly id: number; readonly job: Job }) => {
    void answer(id, job, read).then((reply) => port.postMessage(reply));
  });
}

async function answer(id: number, job: Job, read: Parameters<typeof serve>[0]): Promise<Reply> {
  try {
    return { id, value: await read(job) };
  } catch (error) {
    const code = error instanceof OpenClawError ? error.code : "extract.failed";
    const message = error instanceof Error ? error.message : String(error);
    return { id, failure: { code, message: message.slice(0, 500) } };
  }
}
