// F18: output far larger than memory. It is paged through from the file, and the gateway stays small and awake meanwhile.
// The full size: OPENCLAW_OUTPUT_MB=10000 node --test test/e2e/fault/output.test.ts (needs as much room on the disk).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { exec, proc } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";

const megabytes = Number(process.env["OPENCLAW_OUTPUT_MB"] ?? "60");
/** Lines of 99 numbers and signs and a newline. */
const LINE = 100;
const lines = Math.floor((megabytes * 1_000_000) / LINE);
const WIDTH = 12;
/** A command that never stops must not fill the disk: of one run two gigabytes and the end are kept, and the gap is said. */
const KEPT_LINES = Math.floor(2_147_483_648 / LINE);

const memoryMb = ({ pid }: TestGateway): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

test(
  `F18 ${megabytes} MB of output: pageable to the last line, memory bounded, the gateway answers meanwhile`,
  { timeout: 600_000 + megabytes * 1000 },
  async (t) => {
    const gateway = await startGateway({ config: {} });
    t.after(() => dispose(gateway));
    await exec(gateway, { command: "true" });
    const before = memoryMb(gateway);
    const fill = "x".repeat(LINE - 1 - WIDTH);
    const command = `awk 'BEGIN { for (i = 0; i < ${lines}; i++) printf "%0${WIDTH}d%s\\n", i, "${fill}" }'`;
    const { details } = await exec(gateway, { command, background: true, timeout: 0 });
    const sessionId = String(details["sessionId"]);
    let [most, slowest, asked] = [0, 0, 0];
    for (;;) {
      const at = performance.now();
      const answer = await fetch(`${gateway.url}/health`);
      assert.equal(answer.status, 200);
      [most, slowest, asked] = [
        Math.max(most, memoryMb(gateway)),
        Math.max(slowest, performance.now() - at),
        asked + 1,
      ];
      const { text } = await proc(gateway, { action: "list" });
      if (!text.includes("running")) break;
      await sleep(100);
    }
    const lineAt = async (offset: number): Promise<string> =>
      /^\d{12}/m.exec((await proc(gateway, { action: "log", sessionId, offset, limit: 1 })).text)?.[0] ?? "";
    const kept = Math.min(lines, KEPT_LINES);
    for (const offset of [0, 1, Math.floor(kept / 3), Math.floor(kept / 2), kept - 20_000])
      assert.equal(await lineAt(offset), String(offset).padStart(WIDTH, "0"));
    if (lines > KEPT_LINES) {
      const { text: gap } = await proc(gateway, { action: "log", sessionId, offset: KEPT_LINES - 1000, limit: 3000 });
      assert.match(gap, /bytes were dropped/);
    }
    const { text: tail } = await proc(gateway, { action: "log", sessionId, limit: 2 });
    assert.match(tail, new RegExp(String(lines - 1).padStart(WIDTH, "0")));
    assert.ok(most - before < 150, `memory grew by ${Math.round(most - before)} MB`);
    t.diagnostic(
      `${megabytes} MB, ${lines} lines: memory at most +${Math.round(most - before)} MB, slowest of ${asked} health answers ${Math.round(slowest)} ms`,
    );
  },
);
