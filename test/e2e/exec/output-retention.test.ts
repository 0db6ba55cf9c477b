// How much of a command's output stays, and for how long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { exec, gatewayFor, proc, until } from "../../harness/exec.ts";

test("ten megabytes of output: the end is kept, the cut is reported, and the log has the beginning", async (t) => {
  const gateway = await gatewayFor(t, {});
  const flood = "echo first; head -c 10000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo; echo last";
  const { details, text } = await exec(gateway, { command: flood, yieldMs: 300_000 });
  const { status, truncated, aggregated } = details;
  assert.deepEqual({ status, truncated }, { status: "completed", truncated: true });
  assert.ok(String(aggregated).length <= 200_000 && String(aggregated).endsWith("last\n"));
  assert.ok(text.length < 210_000 && text.includes("output truncated"), text.slice(0, 200));

  const later = await exec(gateway, { command: flood, background: true });
  const sessionId = later.details["sessionId"];
  await until(
    () => proc(gateway, { action: "poll", sessionId }),
    (polled) => polled.details["status"] === "completed",
  );
  assert.match((await proc(gateway, { action: "log", sessionId, offset: 0, limit: 1 })).text, /^first$/m);
  assert.match((await proc(gateway, { action: "log", sessionId, limit: 1 })).text, /^last$/m);
  const small = await exec(gateway, { command: "echo small" });
  assert.equal("truncated" in small.details, false);
});

test("B10 keeps a finished command for at least one minute, even with a shorter tools.exec.cleanupMs", async (t) => {
  const gateway = await gatewayFor(t, { config: { tools: { exec: { cleanupMs: 1 } } } });
  const { details } = await exec(gateway, { command: "echo kept", background: true });
  const polled = () => proc(gateway, { action: "poll", sessionId: details["sessionId"] });
  await until(polled, (seen) => seen.details["status"] === "completed");
  await sleep(500);
  assert.equal((await polled()).details["status"], "completed");
});
