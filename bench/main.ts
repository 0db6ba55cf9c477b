// npm run bench [-- section …]: measures against bare references in the same run and writes RESULTS.md.
import { benchBrowser } from "./browser.ts";
import { benchClients } from "./clients.ts";
import { benchCron } from "./cron.ts";
import { benchExec } from "./exec.ts";
import { benchInstall } from "./install.ts";
import { benchMcp } from "./mcp.ts";
import { benchMemory } from "./memory.ts";
import { benchPolicy } from "./policy.ts";
import { benchRecall } from "./recall.ts";
import { benchServe } from "./serve.ts";
import { benchSessions } from "./sessions.ts";
import { benchSoak } from "./soak.ts";
import { benchStart } from "./start.ts";
import { benchStore } from "./store.ts";
import { benchTurn } from "./turn.ts";
import { benchWeb } from "./web.ts";
import { writeResults } from "./results.ts";
import { atMost, printRows, type Row } from "./table.ts";

const sections: Record<string, () => Promise<Row[]> | Row[]> = {
  start: benchStart,
  serve: benchServe,
  clients: benchClients,
  turn: benchTurn,
  soak: benchSoak,
  policy: () => {
    const { decide, rules, tools } = benchPolicy();
    return [
      atMost(
        `policy decision, ${rules} rules, ${tools} tools, not cached, p50`,
        decide.p50Ms,
        0.2,
        " ms",
        `p99 ${decide.p99Ms.toFixed(3)} ms`,
      ),
    ];
  },
  mcp: benchMcp,
  exec: benchExec,
  cron: benchCron,
  sessions: benchSessions,
  store: benchStore,
  memory: benchMemory,
  install: benchInstall,
  recall: benchRecall,
  web: benchWeb,
  browser: benchBrowser,
};
const wanted = process.argv.slice(2).filter((word) => word !== "--");
const unknown = wanted.filter((name) => !(name in sections));
if (unknown.length > 0)
  throw new Error(`no such section: ${unknown.join(", ")}; there are ${Object.keys(sections).join(", ")}`);
let missed = 0;
for (const [name, run] of Object.entries(sections)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const rows = await run();
  printRows(name, rows);
  if (rows.length > 0) writeResults(name, rows);
  missed += rows.filter(({ reached }) => !reached).length;
}
console.log(missed === 0 ? "\nevery bar reached" : `\n${missed} bars missed`);
