// A gateway with a managed browser, and pages of the test under the name pages.test.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort, tempHome } from "./gateway.ts";
import { findProgram } from "./program.ts";
import { startWebGround, type WebAnswer, type WebGround, type WebPlan } from "./web.ts";

export { noBrowser } from "./page.ts";

/** Fields of an answer, which tests read in depth. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = Record<string, any>;

export interface BrowserGround extends WebGround {
  readonly cdpPort: number;
  /** One call of the browser tool. */
  readonly browser: (args: object) => Promise<WebAnswer>;
  /** Serves a page and opens it in a new tab. */
  open(path: string, html: string): Promise<WebAnswer>;
  /** Opens the page of the test server and returns the text of its snapshot. */
  snapshot(args?: object): Promise<string>;
}

export interface BrowserPlan extends WebPlan {
  /** Keys below `browser`. */
  readonly browser?: object;
}

export async function startBrowserGround(plan: BrowserPlan = {}): Promise<BrowserGround> {
  const cdpPort = await freePort();
  const ground = await startWebGround({
    ...plan,
    tools: { profile: "full", ...plan.tools },
    config: {
      ...plan.config,
      browser: {
        enabled: true,
        headless: true,
        noSandbox: true,
        executablePath: findProgram("chromium"),
        defaultProfile: "openclaw",
        profiles: { openclaw: { cdpPort, color: "#FF4500" } },
        ...plan.browser,
      },
    },
  });
  const browser = (args: object): Promise<WebAnswer> => ground.call("browser", args);
  grounds.add(ground);
  return {
    ...ground,
    cdpPort,
    browser,
    async open(path, html) {
      ground.web.page(path, html);
      return browser({ action: "open", targetUrl: ground.at(path) });
    },
    async snapshot(args = {}) {
      const answer = await browser({ action: "snapshot", ...args });
      return answer.text;
    },
    async close() {
      // A gateway that is killed leaves its browser running.
      await ground.gateway.stop();
      await ground.close();
      grounds.delete(ground);
    },
  };
}

/** Browsers of gateways whose test failed before it closed them. */
const grounds = new Set<WebGround>();
process.once("exit", () => {
  for (const { gateway } of grounds) for (const pid of browsersIn(gateway.state)) process.kill(pid, "SIGKILL");
});

/** For what no event tells, such as the end of a process of another one. */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 800; tries++) {
    if (await isTrue()) return;
    await sleep(25);
  }
  throw new Error(`still not true: ${what}`);
}

/** Process ids of the browsers with data in this state folder. */
export function browsersIn(state: string): number[] {
  const wanted = `--user-data-dir=${state}`;
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return line.includes(wanted) && !line.includes("--type=") ? [Number(name)] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

/** The home of a machine that runs a node host with a browser; the default profile is `openclaw`, `bank` never starts. */
export async function nodeBrowserHome(rest: object = {}): Promise<string> {
  const home = tempHome();
  mkdirSync(join(home, ".openclaw"), { recursive: true });
  const browser = {
    headless: true,
    noSandbox: true,
    executablePath: findProgram("chromium"),
    defaultProfile: "openclaw",
    profiles: { openclaw: { cdpPort: await freePort(), color: "#FF4500" }, bank: { cdpPort: 1, color: "#112233" } },
  };
  writeFileSync(join(home, ".openclaw", "openclaw.json"), JSON.stringify({ browser, ...rest }));
  return home;
}
