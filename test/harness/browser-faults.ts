// Faults of a browser and its pages, started when the test says so.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { browsersIn, until, type BrowserGround } from "./browser.ts";
import type { WebAnswer } from "./web.ts";

/** For scripts of a page: tells the server and waits for its answer. */
const ask = `const ask = (path) => { const asked = new XMLHttpRequest(); asked.open("GET", path, false); asked.send(); };`;

/** In a handler of a page that `openReacting` opened: tells the test and never returns. */
export const HANG = "reached()";

export const browserPid = ({ gateway }: BrowserGround): number =>
  JSON.parse(readFileSync(join(gateway.state, "browser", "openclaw", "process.json"), "utf8")).pid;

/** The next call on a new page works, in one browser. */
export async function assertWorks(ground: BrowserGround): Promise<void> {
  const opened = await ground.open("/next", "<h1>Works again</h1>");
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.match(await ground.snapshot(), /Works again/);
  assert.equal(browsersIn(ground.gateway.state).length, 1);
}

/** Opens a page whose script runs from now on. A script that ran earlier would be ended by the call that opens it. */
export async function openRunning(ground: BrowserGround, path: string, script: string): Promise<WebAnswer> {
  const release = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  ground.web.on("/release", (_request, response) => void release.promise.then(() => response.end()));
  ground.web.on("/released", (_request, response) => {
    response.end();
    released.resolve();
  });
  const html = `<h1>Hang</h1><script>${ask} fetch("/release").then(() => { ask("/released"); ${script} });</script>`;
  const opened = await ground.open(path, html);
  release.resolve();
  await released.promise;
  return opened;
}

/** Opens a page with `HANG` in a handler; `reached` resolves when that handler runs. */
export async function openReacting(ground: BrowserGround, html: string) {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  ground.web.on("/reached", (_request, response) => {
    response.end();
    resolve();
  });
  const opened = await ground.open(
    "/fault",
    `<script>${ask} const reached = () => { ask("/reached"); for (;;); };</script>${html}`,
  );
  assert.ok(opened.ok, JSON.stringify(opened));
  return { reached, targetId: opened.details["targetId"], text: opened.text };
}

/** Kills the browser as soon as the call has reached the page. The call ends with its result or says what happened. */
export async function killDuring(ground: BrowserGround, pending: Promise<WebAnswer>, reached: Promise<unknown>) {
  await Promise.race([pending, reached]);
  const killed = browserPid(ground);
  process.kill(killed, "SIGKILL");
  const answer = await pending;
  await until(() => !browsersIn(ground.gateway.state).includes(killed), "the browser ended");
  if (!answer.ok) assert.equal(answer.error?.code, "browser.gone", JSON.stringify(answer));
  return answer;
}
