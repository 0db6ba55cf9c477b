// The thread that reads PDF files; its library is large and so is apart from that of pages.
import { readPdf } from "./pdf.ts";
import { serve } from "./serve.ts";

serve((job) => {
  if (job.kind === "pdf") return readPdf(job);
  throw new Error(`the PDF thread does not read ${job.kind}`);
});
