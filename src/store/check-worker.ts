// The process that verifies a store and reports the result, so that the gateway neither waits nor needs the memory.
import { verifyStore } from "./verify.ts";

const report = await verifyStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify({ ok: report.ok, checks: report.checks, counts: report.counts }));
