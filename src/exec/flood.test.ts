// F18: floods of output stay out of memory and can be paged to the last line.
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { after, test } from "node:test";

import { openTestEngine, rounds } from "./engine.cases.ts";
import type { Running } from "./running.ts";

const engine = openTestEngine();
after(() => engine.close());
const MB = 1_000_000;
const size = rounds(1) > 1 ? 100 * MB : 30 * MB;

const floods: Record<string, { readonly line: string; readonly check: (run: Running) => Promise<void> }> = {
  "a million short lines": {
    line: `yes | head -c ${size}`,
    async check({ output }) {
      assert.equal(output.totalLines, size / 2);
      assert.deepEqual(await output.lines(size / 2 - 2, 10), ["y", "y"]);
      assert.deepEqual(await output.lines(size / 4, 1), ["y"]);
    },
  },
  "numbered lines": {
    line: `seq 1 ${size / 10}`,
    async check({ output }) {
      const last = size / 10;
      assert.equal(output.totalLines, last);
      for (const line of [0, 12_345, last - 1]) assert.deepEqual(await output.lines(line, 1), [String(line + 1)]);
    },
  },
  "binary noise": {
    line: `head -c ${size} /dev/urandom`,
    async check({ output }) {
      const text = (await output.lines(output.totalLines - 5, 5)).join("");
      assert.ok(text.isWellFormed());
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    },
  },
  "no newline at all": {
    line: `head -c ${size} /dev/zero | tr '\\0' 'a'`,
    async check({ output }) {
      assert.equal(output.totalLines, Math.ceil(size / 65_536));
      const [last = ""] = await output.lines(output.totalLines - 1, 1);
      assert.equal(last, "a".repeat(size - (output.totalLines - 1) * 65_536));
    },
  },
  "unfinished terminal sequences": {
    line: `yes "$(printf '\\033]0;\\033[999999999;')" | head -c ${size}; echo; echo end`,
    async check({ output }) {
      assert.equal((await output.lines(output.totalLines - 1, 1))[0], "end");
      assert.ok(output.tail(200_000).length <= 200_000);
      assert.ok(output.drain().text.endsWith("end\n"));
    },
  },
};

for (const [name, { line, check }] of Object.entries(floods)) {
  test(`${name}: flat in memory, paged to the end`, async (t) => {
    const loop = monitorEventLoopDelay({ resolution: 5 });
    const before = process.memoryUsage();
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, buffers())), 5);
    loop.enable();
    const run = await engine.sh(line);
    await run.ended;
    loop.disable();
    clearInterval(timer);
    const grown = (peak - before.arrayBuffers - before.heapUsed) / MB;
    t.diagnostic(
      `${size / MB} MB; buffers and heap +${grown.toFixed(1)} MB; loop p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms`,
    );
    assert.ok(grown < 20, `${grown} MB`);
    await check(run);
    await run.output.discard();
  });
}

test("200 chatty commands in parallel are all paged to the last line", async (t) => {
  const lines = 20_000;
  const before = buffers();
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, buffers())), 5);
  const runs = await Promise.all(
    Array.from({ length: 200 }, (_, at) => engine.sh(`seq -f 'process ${at} line %.0f' 1 ${lines}`)),
  );
  await Promise.all(runs.map(({ ended }) => ended));
  clearInterval(timer);
  t.diagnostic(`buffers and heap +${((peak - before) / MB).toFixed(1)} MB`);
  for (const [at, { output }] of runs.entries()) {
    assert.equal(output.totalLines, lines);
    assert.deepEqual(await output.lines(lines - 1, 5), [`process ${at} line ${lines}`]);
    assert.deepEqual(await output.lines(0, 1), [`process ${at} line 1`]);
  }
  assert.ok(peak - before < 100 * MB);
});

function buffers(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}
