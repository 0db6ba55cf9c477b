// A process of its own that verifies a store and says what it found: the gateway neither waits nor grows for it.
import { verifyStore } from "./verify.ts";

const report = await verifyStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify({ ok: report.ok, checks: report.checks, counts: report.counts }));
