// The browser tool: against bare Playwright on the same page, against `@playwright/mcp` on the same tasks, and its memory.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

import { startBrowserGround, type BrowserGround } from "../test/harness/browser.ts";
import { freePort, noShared } from "../test/harness/gateway.ts";
import { findProgram } from "../test/harness/program.ts";
import { OpenClawAgent } from "../test/harness/miniwob/openclaw-agent.ts";
import { PlaywrightMcp, PlaywrightMcpAgent } from "../test/harness/miniwob/playwright-mcp-agent.ts";
import { connectEpisodes, serveTasks, taskNames, type Episodes } from "../test/harness/miniwob/site.ts";
import { solvers } from "../test/harness/miniwob/solvers.ts";
import type { Agent } from "../test/harness/miniwob/agent.ts";
import { atMost, round, type Row } from "./table.ts";
import { benchUnused } from "./unused.ts";

const ROUNDS = 30;
const TABS = 50;

export async function benchBrowser(): Promise<Row[]> {
  const ground = await startBrowserGround();
  try {
    return [
      ...(await benchCalls(ground)),
      ...(noShared === false ? await benchBytes(ground) : []),
      await benchTabs(ground),
      ...(await benchUnused(
        "browser",
        () => ({ config: { browser: { enabled: false } } }),
        () => ({ config: { browser: { enabled: true, defaultProfile: "openclaw" } } }),
      )),
    ];
  } finally {
    await ground.close();
  }
}

/** One of each in turn, on the same page of the same browser, so that both meet the same machine. */
async function benchCalls(ground: BrowserGround): Promise<Row[]> {
  const rows = Array.from({ length: 500 }, (_, at) => row(at)).join("");
  await ground.open("/large", `<title>Large</title><button id=b>Press</button><ul>${rows}</ul>`);
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${ground.cdpPort}`);
  const page = browser
    .contexts()[0]
    ?.pages()
    .find((one) => one.url().endsWith("/large"));
  if (page === undefined) throw new Error("the page is not open");
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let at = 0; at < ROUNDS; at++) {
    times.bare.push(await timed(() => page.ariaSnapshot({ mode: "ai" })));
    times.ours.push(await timed(() => ground.browser({ action: "snapshot" })));
  }
  const snapshot = [best(times.ours), best(times.bare)] as const;
  const small = `<title>Small</title><button onclick="this.dataset.n=1">Press</button>`;
  await ground.open("/small", small);
  const other = browser
    .contexts()[0]
    ?.pages()
    .find((one) => one.url().endsWith("/small"));
  if (other === undefined) throw new Error("the page is not open");
  const ref = /button "Press" \[(\d+)\]/.exec(await ground.snapshot())?.[1];
  const click = { action: "act", request: { kind: "click", ref } };
  const clicks = { bare: [] as number[], none: [] as number[], changes: [] as number[] };
  for (let at = 0; at < ROUNDS; at++) {
    clicks.bare.push(await timed(() => other.getByRole("button").click()));
    clicks.none.push(await timed(() => ground.browser({ ...click, observe: "none" })));
    clicks.changes.push(await timed(() => ground.browser(click)));
  }
  await browser.close();
  const [none, bare, changes] = [best(clicks.none), best(clicks.bare), best(clicks.changes)];
  const name = "act click over /tools/invoke with what changed, best of 30";
  const note = `${round(changes)} ms, bare ${round(bare)} ms; observe none ${round(none)} ms`;
  return [
    atMost(
      "snapshot of 2,000 elements over /tools/invoke, best of 30",
      snapshot[0] / snapshot[1],
      1.3,
      "x bare ariaSnapshot",
      `${round(snapshot[0])} ms, bare ${round(snapshot[1])} ms`,
    ),
    changes / bare <= 1.3
      ? atMost(name, changes / bare, 1.3, "x bare click", note)
      : atMost(name, changes - bare, 8, " ms over bare click", note),
  ];
}

const row = (at: number): string =>
  `<li><a href="/item/${at}">Item ${at}</a> <button>Buy ${at}</button> <input type=checkbox aria-label="Keep ${at}"></li>`;

/** Text that the model reads from the first snapshot to the last step, in tasks that both solve. */
async function benchBytes(ground: BrowserGround): Promise<Row[]> {
  serveTasks(ground.web);
  await ground.browser({ action: "open", targetUrl: "about:blank" });
  const episodes = await connectEpisodes(ground.cdpPort);
  const ours = new Map<string, number>();
  for (const task of taskNames()) {
    await ground.browser({ action: "navigate", targetUrl: ground.at(`/tasks/${task}.html`) });
    const bytes = await solve(task, new OpenClawAgent(ground.browser), episodes);
    if (bytes !== undefined) ours.set(task, bytes);
  }
  await episodes.close();
  const theirs = await playwrightMcpBytes(ground);
  const both = [...theirs].filter(([task]) => ours.has(task));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const [mine, other] = [sum(both.map(([task]) => ours.get(task) ?? 0)), sum(both.map(([, bytes]) => bytes))];
  const note = `${mine} of ${other} bytes in ${both.length} tasks; solved ${ours.size} and ${theirs.size} of ${taskNames().length}`;
  return [atMost("bytes a model reads over the web tasks", mine / other, 0.5, "x @playwright/mcp", note)];
}

async function playwrightMcpBytes(ground: BrowserGround): Promise<Map<string, number>> {
  const port = await freePort();
  const args = ["--no-sandbox", `--remote-debugging-port=${port}`];
  const browser = await chromium.launch({ executablePath: findProgram("chromium") ?? "chromium", args });
  const program = playwrightMcp();
  const server = await PlaywrightMcp.start(program, port, join(program, "..", "..", "..", ".."));
  const bytes = new Map<string, number>();
  try {
    await server.call("browser_navigate", { url: "about:blank" });
    const episodes = await connectEpisodes(port);
    for (const task of taskNames())
      // Answers of its steps do not contain the page; it looks after each step only where the task needs that.
      for (const isEager of [false, true]) {
        if (bytes.has(task)) continue;
        await server.call("browser_navigate", { url: `${ground.web.url}/tasks/${task}.html` });
        const read = await solve(task, new PlaywrightMcpAgent(server, isEager), episodes);
        if (read !== undefined) bytes.set(task, read);
      }
    await episodes.close();
  } finally {
    await server.close();
    await browser.close();
  }
  return bytes;
}

/** Undefined when the agent does not solve the task. */
async function solve(task: string, agent: Agent, episodes: Episodes): Promise<number | undefined> {
  await episodes.start(task);
  try {
    await agent.look();
    await solvers[task]?.(agent);
  } catch (error) {
    // The tool lacks a step that the task needs.
    if (error instanceof Error) return undefined;
    throw error;
  }
  return ((await episodes.verdict(task)) ?? 0) > 0 ? agent.bytes : undefined;
}

/** Installed beside the temporary files on first use; it is no dependency of this package. */
function playwrightMcp(): string {
  const folder = join(tmpdir(), "openclaw-bench-playwright-mcp");
  const program = join(folder, "node_modules", "@playwright", "mcp", "cli.js");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "@playwright/mcp@0.0.83"]);
  return program;
}

async function benchTabs(ground: BrowserGround): Promise<Row> {
  const rows = Array.from({ length: 50 }, (_, at) => row(at)).join("");
  const ids: string[] = [];
  for (let at = 0; at < TABS; at++)
    ids.push(String((await ground.open(`/tab-${at}`, `<title>Tab ${at}</title><ul>${rows}</ul>`)).details["targetId"]));
  const rounds: number[] = [];
  for (let at = 0; at < 4; at++) {
    for (const targetId of ids) await ground.browser({ action: "snapshot", targetId });
    rounds.push(residentMb(ground.gateway.pid));
  }
  const [first = 0, ...others] = rounds;
  const grown = Math.max(...others) / first;
  const note = `${rounds.map((megabytes) => round(megabytes)).join(", ")} MB after each round`;
  return atMost(`gateway memory, ${TABS} tabs read in turn, after the first round`, grown, 1.1, "x", note);
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Other work on the machine only ever adds. */
const best = (values: readonly number[]): number => Math.min(...values);
