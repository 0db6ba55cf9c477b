// Scripts in a thread: for any misbehavior, the caller gets an error in time, and the next call works.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Log } from "../base/log.ts";
import { callScript, openScript } from "./script.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-script-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const log: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => log };

let count = 0;
function plan(text: string, exportName?: string) {
  const file = join(folder, `script-${++count}.mts`);
  writeFileSync(file, text);
  return { file, exportName, what: "it", log };
}

test("calls the default or a named function, also in TypeScript, and returns result and argument as data", async () => {
  const typed = plan("export default (x: { n: number }): number => { x.n += 1; return x.n * 2; };");
  assert.deepEqual(await callScript(typed, { n: 1 }, 5000), { result: 4, argument: { n: 2 } });
  const named = plan("export const other = async () => undefined;", "other");
  assert.deepEqual(await callScript(named, {}, 60_000), { argument: {} });
});

const broken: readonly (readonly [string, RegExp])[] = [
  ["export default () => { throw new Error('no'); };", /it failed: Error: no/],
  ["export default () => { throw null; };", /null/],
  ["throw new Error('at load');", /at load/],
  ["this is not code", /it failed/],
  ["export const other = 1;", /no function exported as default/],
  ["export default () => { for (;;); };", /longer than 0\.6 s/],
  ["export default () => new Promise(() => {});", /longer than 0\.6 s|thread ended/],
  ["export default () => { process.exit(1); };", /thread ended/],
  [
    "export default () => { setTimeout(() => { throw new Error('later'); }); return new Promise(() => setTimeout(() => {}, 9999)); };",
    /later/,
  ],
  ["export default () => 'x'.repeat(3_000_000);", /too long/],
  ["const loop = {}; loop.loop = loop; export default () => loop;", /circular/i],
  [
    "import { parentPort } from 'node:worker_threads'; export default () => { for (const m of [null, 7, { id: 1, json: '{' }]) parentPort.postMessage(m); };",
    /not JSON/,
  ],
  ["export default () => { const all = []; for (;;) all.push(new Array(1e6).fill(1)); };", /longer|memory|ended/i],
];

test("reports any failure of a script as one error, in time", async () => {
  for (const [text, words] of broken) {
    const deadlineMs = words.source.startsWith("longer") ? 600 : 20_000;
    const { message } = await callScript(plan(text), {}, deadlineMs).then(
      () => assert.fail(`no error: ${text}`),
      (error: unknown) => error as Error,
    );
    assert.match(message, words, text);
  }
});

test("keeps the state of an open script until it fails, and then starts it again", async () => {
  const script = openScript(
    plan("let n = 0; export default ({ die }) => { if (die) throw new Error('dead'); return ++n; };"),
  );
  const call = async (argument: unknown) => (await script.call(argument, 60_000)).result;
  assert.deepEqual(await Promise.all([call({}), call({})]), [1, 2]);
  assert.equal(await call({}), 3);
  await assert.rejects(call({ die: true }), /dead/);
  assert.equal(await call({}), 1);
  await script.close();
});

test("starts a thread again that ended between two calls", async () => {
  const script = openScript(plan("export default () => { setTimeout(() => process.exit(), 20); return 1; };"));
  assert.equal((await script.call({}, 60_000)).result, 1);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.equal((await script.call({}, 60_000)).result, 1);
  await script.close();
});

test("passes only the given environment to a script", async () => {
  process.env["SCRIPT_TEST_SECRET"] = "s";
  const answer = await callScript({ ...plan("export default () => process.env;"), env: { OWN: "1" } }, {}, 60_000);
  assert.deepEqual(answer.result, { OWN: "1" });
});
