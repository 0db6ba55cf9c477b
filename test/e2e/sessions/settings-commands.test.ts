// /config, /debug and /restart through a chat: off by default, checked, comments kept, told after the restart.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";

let gateway: TestGateway;
let wire: Wire;
let run = 0;
const file = (): string => join(gateway.state, "openclaw.json");
const text = (): string => readFileSync(file(), "utf8");
const starts = (): number => gateway.output().match(/listening on/g)?.length ?? 0;
const say = async (message: string): Promise<string> => {
  run += 1;
  const end = await chat(wire, "main", message, `say-${run}`);
  return `${end.errorMessage ?? ""}${textOf(end)}`;
};
async function comeBack(): Promise<void> {
  const again = await until(
    () => operator(gateway).catch(() => undefined),
    (found) => found !== undefined,
  );
  assert.ok(again);
  wire = again;
}

before(async () => {
  gateway = await startGateway({ config: { ui: { assistant: { name: "Ada" } } } });
  await comeBack();
});
after(async () => {
  wire.end();
  await dispose(gateway);
});

test("all three are off by default and name the key that enables them", async () => {
  assert.match(await say("/config show"), /openclaw config set commands\.config true/);
  assert.match(await say("/debug show"), /openclaw config set commands\.debug true/);
  assert.match(await say("/restart"), /openclaw config set commands\.restart true/);
});

test("/config set validates and writes one key and keeps the comments of the file; unset removes it", async () => {
  const before = starts();
  writeFileSync(
    file(),
    text().replace("{", '{\n  // of my own\n  "commands": { "config": true, "debug": true, "restart": true },'),
  );
  await until(starts, (count) => count > before);
  await comeBack();
  assert.match(await say("/config set ui.assistant.name = Bea"), /ui\.assistant\.name set\. Applied immediately/);
  assert.match(text(), /\/\/ of my own/);
  assert.match(text(), /"name": "Bea"/);
  await until(
    () => say("/config get ui.assistant.name"),
    (shown) => /"Bea"/.test(shown),
  );
  const kept = text();
  assert.match(await say("/config set ui.assistant.nme Bea"), /nothing was written[\s\S]*ui\.assistant\.nme/);
  assert.match(await say("/config set gateway.port many"), /nothing was written/);
  assert.equal(text(), kept);
  assert.match(await say("/config unset ui.assistant.name"), /removed/);
  assert.doesNotMatch(text(), /Bea/);
  assert.match(await say("/config unset ui.assistant.name"), /Config path not found/);
  assert.match(await say("/config show gateway.auth"), /__OPENCLAW_REDACTED__/);
});

test("/debug overrides the config in memory only; /status shows it; reset and a restart remove it", async () => {
  const kept = text();
  assert.match(await say("/debug set tools.deny=['agents_list']"), /overridden until the gateway restarts/);
  assert.match(await say("/tool agents_list {}"), /denied|not allowed|deny/i);
  assert.match(await say("/status"), /Overridden until the next restart: tools\.deny/);
  assert.match(await say("/debug show"), /tools\.deny = \["agents_list"\]/);
  assert.match(await say("/debug set gateway.auth.token hidden-value-123456"), /overridden/);
  assert.doesNotMatch(await say("/debug show"), /hidden-value/);
  assert.match(await say("/debug set tools.nope 1"), /not applied/);
  assert.match(await say("/debug reset"), /2 overrides removed/);
  assert.match(await say("/tool agents_list {}"), /main/);
  assert.doesNotMatch(await say("/status"), /Overridden/);
  assert.equal(text(), kept);
});

test("/restart restarts in place, drops overrides, and reports to its session with the note", async () => {
  await say("/debug set ui.assistant.name Override");
  const before = starts();
  assert.match(await say("/restart after the move"), /restarts in 2000 ms/);
  await until(starts, (count) => count === before + 1);
  await comeBack();
  assert.doesNotMatch(await say("/status"), /Overridden/);
  const { events } = await wire.call("system-events.list", { sessionKey: "main" });
  assert.equal(events.length, 1);
  assert.match(events[0]?.text ?? "", /^Gateway restarted \(restart done, requested [^)]+\)\nafter the move$/);
});
