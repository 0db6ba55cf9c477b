// The thread that reads web pages.
import { readPage, readRows } from "./page.ts";
import { serve } from "./serve.ts";

serve((job) => {
  if (job.kind === "page") return readPage(job);
  if (job.kind === "rows") return readRows(job);
  throw new Error(`the page thread does not read ${job.kind}`);
});
