// `openclaw agents` and `openclaw sessions` with the documented flags, for people and for programs.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import { say } from "../../fakes/openai.ts";
import { openTwoAgents, untilSaid, type TwoAgents } from "../../harness/sessions.ts";

let agents: TwoAgents;
let cli: Cli;
let child = "";
before(async () => {
  agents = await openTwoAgents();
  cli = newCli(undefined, agents.gateway.home);
  agents.play(({ text }) => say(text.startsWith("[Subagent]") ? "told" : "done"));
  child = String((await agents.call("sessions_spawn", { task: "x", label: "errand" }))["childSessionKey"]);
  await untilSaid(agents.wire, "main", /^assistant: told/);
});
after(() => agents.close());

interface Listed {
  readonly sessions: readonly { readonly key: string; readonly spawnedBy?: string }[];
}
const keysIn = (text: string): string[] => (JSON.parse(text) as Listed).sessions.map(({ key }) => key).toSorted();

test("sessions --json lists all sessions; --active and --spawned-by filter them", async () => {
  assert.deepEqual(keysIn(wellEnded(await cli.run("sessions", "--json"))), ["agent:main:main", child].toSorted());
  assert.deepEqual(keysIn(wellEnded(await cli.run("sessions", "--active", "5", "--json"))).length, 2);
  const mine = await cli.run("sessions", "--spawned-by", "agent:main:main", "--json");
  assert.deepEqual(keysIn(wellEnded(mine)), [child]);
});

test("sessions --verbose shows kinds, ids and parents", async () => {
  const text = wellEnded(await cli.run("sessions", "--verbose"));
  assert.match(text, /Kind\s+Id\s+Started by/);
  assert.match(text, /errand.*agent:main:main/);
  assert.doesNotMatch(wellEnded(await cli.run("sessions")), /Started by/);
});

test("sessions --store reads a store file, also beside the gateway", async () => {
  const file = join(agents.gateway.state, "openclaw.sqlite");
  const text = wellEnded(await cli.run("sessions", "--store", file, "--json"));
  assert.deepEqual(keysIn(text), ["agent:main:main", child].toSorted());
  const missing = await cli.run("sessions", "--store", "/nowhere/x.sqlite");
  assert.equal(missing.code, 1);
});

test("agents add accepts --agent-dir and --non-interactive; set-identity changes only what is named", async () => {
  const other = newCli("{\n  // mine\n  gateway: { mode: 'local' },\n}\n");
  const folder = join(other.home, "ops");
  mkdirSync(folder);
  writeFileSync(join(folder, "IDENTITY.md"), "- **Name:** Molly\n- **Vibe:** dry\n- **Emoji:** 🦀\n");
  const add = [
    "agents",
    "add",
    "ops",
    "--workspace",
    folder,
    "--agent-dir",
    join(other.home, "state"),
    "--non-interactive",
  ];
  wellEnded(await other.run(...add));
  wellEnded(await other.run("agents", "set-identity", "--workspace", folder, "--from-identity", "--theme", "calm"));
  assert.match(
    other.text(),
    /\/\/ mine[\s\S]*agentDir: '[^']+state'[\s\S]*name: 'Molly'[\s\S]*theme: 'calm'[\s\S]*emoji: '🦀'/,
  );
  wellEnded(await other.run("agents", "set-identity", "--agent", "ops", "--name", "Max"));
  assert.match(other.text(), /name: 'Max'[\s\S]*theme: 'calm'/);
  wellEnded(await other.run("agents", "set-identity", "--name", "Chief", "--json"));
  const rows = JSON.parse(wellEnded(await other.run("agents", "list", "--json"))) as { id: string; name?: string }[];
  assert.deepEqual(
    rows.map(({ id, name }) => [id, name]),
    [
      ["main", "Chief"],
      ["ops", "Max"],
    ],
  );
  const nothing = await other.run("agents", "set-identity", "--agent", "ops");
  assert.equal(nothing.code, 2);
  other.dispose();
});

test("sessions reads the store while the gateway is down, also after it was killed", async () => {
  const file = join(agents.gateway.state, "openclaw.sqlite");
  await agents.gateway.stop("SIGKILL");
  for (const round of ["after the kill", "again"]) {
    const listed = await cli.run("sessions", "--json");
    assert.deepEqual(keysIn(wellEnded(listed)), ["agent:main:main", child].toSorted(), round);
  }
  const { code, stdout, stderr } = await cli.run("sessions", "--spawned-by", "agent:main:main");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /errand/);
  assert.match(stderr, /not running/);
  assert.equal((await cli.run("sessions", "--url", "ws://127.0.0.1:1", "--token", "x")).code, 1);
  rmSync(file);
  assert.deepEqual(keysIn(wellEnded(await cli.run("sessions", "--json"))), []);
});
