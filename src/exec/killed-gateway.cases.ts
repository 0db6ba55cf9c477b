// A separate process that starts commands which resist ending; tests kill it and check which processes are left.
import { env, openTestEngine } from "./engine.cases.ts";

const engine = openTestEngine();
const lines = [
  "(setsid sh -c 'sleep 700 & sleep 701' >/dev/null 2>&1 &)",
  "trap '' TERM HUP; while :; do sleep 702; done",
  "setsid sh -c 'trap \"\" TERM; sleep 703; sleep 704' & wait",
];
for (const line of lines) {
  const launch = { argv: ["/bin/sh", "-c", line], cwd: "/", env: { ...env, TAG: process.env["WORD"] ?? "" } };
  await engine.start({ pipeline: [{ launch }] });
  await engine.start({ pipeline: [{ launch }], tty: { columns: 80, rows: 24 } });
}
setInterval(() => {}, 60_000);
