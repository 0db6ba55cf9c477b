// Hooks on events inside: found, enabled by a person, told of events, and kept apart from the gateway they run beside.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { say } from "../../fakes/openai.ts";
import { openHookGateway, writeScript, type HookGateway } from "../../harness/hook.ts";
import { openclaw, tempHome } from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";

const TOKEN_LIKE = "hook-entry-key-123456";

function writeHook(folder: string, name: string, metadata: object, script: string): void {
  const card = `---\nname: ${name}\ndescription: "test hook"\nmetadata:\n  ${JSON.stringify({ openclaw: metadata })}\n---\n# ${name}\n`;
  writeScript(join(folder, name), "HOOK.md", card);
  writeScript(join(folder, name), "handler.ts", script);
}

const home = tempHome();
const state = join(home, ".openclaw");
const managed = join(state, "hooks");
const workspace = join(state, "workspace");
const out = (name: string): string => join(home, name);
const writes = (name: string, what = "true"): string =>
  `import { appendFileSync } from "node:fs";\nexport default async (event): Promise<void> => { appendFileSync(${JSON.stringify(out(name))}, JSON.stringify(${what}) + "\\n"); };`;

let runtime: HookGateway;
before(async () => {
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "AGENTS.md"), "the original words");
  writeFileSync(join(workspace, "BOOT.md"), "# Boot\nwater the plants at boot");
  writeHook(
    managed,
    "watcher",
    { events: ["command"] },
    writes("watcher.jsonl", "[event, Object.keys(process.env).sort(), process.env.MY_KEY]"),
  );
  writeHook(
    managed,
    "speaker",
    { events: ["command:stop", "command:new", "gateway:startup"] },
    "export default (e) => { e.messages.push(`the speaker heard ${e.type}:${e.action}`); };",
  );
  writeHook(managed, "never-enabled", { events: ["command", "gateway:startup"] }, writes("never.jsonl"));
  writeHook(
    managed,
    "throws",
    { events: ["command", "gateway:startup", "agent:bootstrap"] },
    "throw new Error('broken at load');",
  );
  writeHook(managed, "hangs", { events: ["command:stop"] }, "export default () => { for (;;); };");
  writeHook(
    managed,
    "needy",
    { events: ["command"], requires: { bins: ["surely-no-such-program"], env: ["NO_SUCH_ENV"] } },
    writes("needy.jsonl"),
  );
  writeHook(
    managed,
    "prompt",
    { events: ["agent:bootstrap"], export: "change" },
    "export const change = (e) => { e.context.bootstrapFiles = [...e.context.bootstrapFiles, { name: 'EXTRA.md', content: 'words of a hook' }]; };",
  );
  writeScript(join(managed, "garbled"), "HOOK.md", "---\nname: [\n---\n");
  // An agent could have written these two.
  writeHook(join(workspace, "hooks"), "sneaky", { events: ["command", "gateway:startup"] }, writes("sneaky.jsonl"));
  writeHook(
    join(workspace, "hooks"),
    "command-logger",
    { events: ["command", "gateway:startup"] },
    writes("shadow.jsonl"),
  );
  const on = { enabled: true };
  runtime = await openHookGateway(
    {
      internal: {
        enabled: true,
        entries: {
          watcher: { ...on, env: { MY_KEY: TOKEN_LIKE } },
          ...Object.fromEntries(
            "speaker throws hangs needy prompt garbled sneaky command-logger session-memory boot-md not-there"
              .split(" ")
              .map((name) => [name, on]),
          ),
        },
      },
    },
    {},
    { home },
  );
});
after(() => runtime.close());

const lines = (name: string): unknown[] =>
  existsSync(out(name))
    ? readFileSync(out(name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown)
    : [];
const cli = async (...words: string[]): Promise<Record<string, unknown>> => {
  const { stdout, stderr, code } = await openclaw(home, ["hooks", ...words, "--json"]);
  assert.ok(code === 0 || words[0] === "check", stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};

test("gateway:startup: boot-md gives the agent BOOT.md, and messages that a hook pushes appear in the main session", async () => {
  const boot = await until(
    () => runtime.received().find((text) => text.includes("water the plants at boot")) ?? "",
    (found) => found !== "",
  );
  assert.match(boot, /just started/);
  const said = async (): Promise<boolean> => {
    const { payload } = await runtime.wire.request("chat.history", { sessionKey: "main" });
    return JSON.stringify(payload).includes("the speaker heard gateway:startup");
  };
  assert.ok(await until(said, (there) => there));
});

test("F13: a hook that throws while loading leaves the gateway up and the others running", async () => {
  await until(
    () => runtime.gateway.output(),
    (text) => text.includes("hook throws failed at gateway:startup"),
  );
  assert.match(runtime.gateway.output(), /hook garbled does not run/);
  assert.equal((await runtime.wire.request("health", {})).ok, true);
});

test("command:stop: every listener gets the documented event; one that hangs is stopped, and pushed messages reach the person", async () => {
  const end = await chat(runtime.wire, "main", "/stop", "hook-stop");
  assert.match(textOf(end), /Nothing is running here\.\nthe speaker heard command:stop/);
  const [[event, names, key] = []] = lines("watcher.jsonl") as [Record<string, unknown>, string[], string][];
  const { context, timestamp, ...rest } = event as { context: Record<string, unknown>; timestamp: string };
  assert.deepEqual(rest, { type: "command", action: "stop", sessionKey: "agent:main:main", messages: [] });
  assert.ok(!Number.isNaN(Date.parse(timestamp)));
  assert.equal(context["workspaceDir"], workspace);
  assert.equal(typeof context["sessionId"], "string");
  assert.equal(context["commandSource"], "chat");
  const cfg = JSON.stringify(context["cfg"]);
  assert.ok(
    cfg.includes("fake-1") && !cfg.includes(runtime.gateway.token) && !cfg.includes(TOKEN_LIKE),
    "the config, without its secrets",
  );
  assert.equal(key, TOKEN_LIKE);
  assert.ok(
    names?.every((name) => ["HOME", "LANG", "MY_KEY", "PATH", "TMPDIR", "TZ", "USER"].includes(name)),
    String(names),
  );
  assert.match(runtime.gateway.output(), /hook hangs failed at command:stop/);
});

test("agent:bootstrap can change the files that a prompt begins with", async () => {
  await chat(runtime.wire, "main", "hello there", "hook-boot");
  const { messages } = (runtime.server.requests.at(-1)?.body ?? {}) as {
    messages: { role: string; content: string }[];
  };
  const system = messages.find(({ role }) => role === "system")?.content ?? "";
  assert.match(system, /the original words[\s\S]*## EXTRA\.md\nwords of a hook/);
});

test("session-memory writes the end of the session on /new and on /reset with another number", async () => {
  runtime.script = () => say("Sure, my key is sk-abcdefghij0123456789abcd.");
  await chat(runtime.wire, "main", "plan the garden party", "hook-talk");
  await chat(runtime.wire, "main", "/new", "hook-new");
  const notes = readdirSync(join(workspace, "memory"));
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /^\d{4}-\d{2}-\d{2}-[a-z-]+\.md$/);
  const note = readFileSync(join(workspace, "memory", notes[0] ?? ""), "utf8");
  assert.match(note, /- Session: agent:main:main/);
  assert.match(note, /user: plan the garden party\nassistant: Sure, my key is sk-a…cd\./);
  await chat(runtime.wire, "main", "/reset", "hook-reset");
  assert.equal(readdirSync(join(workspace, "memory")).length, 2);
});

test("command-logger writes one JSON line for each command", () => {
  const log = readFileSync(join(state, "logs", "commands.log"), "utf8")
    .trim()
    .split("\n");
  const rows = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    rows.map(({ action, sessionKey, source }) => [action, sessionKey, source]),
    [
      ["stop", "agent:main:main", "chat"],
      ["new", "agent:main:main", "chat"],
      ["reset", "agent:main:main", "chat"],
    ],
  );
});

test("session-memory keeps the conversation without notices and heartbeats", async () => {
  runtime.script = () => say("HEARTBEAT_OK");
  await runtime.wire.request("wake", { mode: "now", text: "the boiler reports\n42 degrees" });
  await until(
    () => runtime.received().some((text) => text.includes("the boiler reports")),
    (there) => there,
  );
  runtime.script = () => say("Seven guests.");
  await runtime.wire.request("wake", { mode: "next-heartbeat", text: "the cellar is dry" });
  await chat(runtime.wire, "main", "count the guests again", "hook-count");
  await chat(runtime.wire, "main", "/new", "hook-count-new");
  const folder = join(workspace, "memory");
  const name = readdirSync(folder).find((file) => file.includes("count-guests-again")) ?? "";
  const note = readFileSync(join(folder, name), "utf8");
  assert.match(note, /user: count the guests again\nassistant: Seven guests\./);
  assert.doesNotMatch(note, /System:|heartbeat|HEARTBEAT|boiler|cellar/);
});

test("never runs hooks that are not enabled, lack a requirement, or lie unpinned in a workspace", () => {
  assert.deepEqual(
    [lines("never.jsonl"), lines("needy.jsonl"), lines("sneaky.jsonl"), lines("shadow.jsonl")],
    [[], [], [], []],
  );
});

test("a workspace hook runs once a person enabled it, as it was then; a change stops it after the next reload", async () => {
  await cli("disable", "hangs");
  const before = await cli("info", "sneaky");
  assert.match(String(before["problem"]), /agents can write its folder/);
  await cli("enable", "sneaky");
  assert.match(readFileSync(join(state, "openclaw.json"), "utf8"), /"pin": "sha256-[0-9a-f]{64}"/);
  const hears = async (): Promise<number> => {
    await chat(runtime.wire, "main", "/stop", `sneaky-${Math.random()}`);
    return lines("sneaky.jsonl").length;
  };
  await until(hears, (count) => count > 0);
  // The agent changes it while the gateway runs: what was approved is what runs.
  writeFileSync(join(workspace, "hooks", "sneaky", "handler.ts"), writes("changed.jsonl"));
  const count = await hears();
  assert.ok(count > 1);
  assert.deepEqual(lines("changed.jsonl"), []);
  // And from the next look at the config on, not at all.
  await cli("disable", "never-enabled");
  await until(
    async () => {
      await hears();
      return runtime.gateway.output();
    },
    (text) => text.includes("hook sneaky does not run: it has changed since it was enabled"),
  );
  const last = lines("sneaky.jsonl").length;
  await hears();
  assert.deepEqual([lines("sneaky.jsonl").length, lines("changed.jsonl")], [last, []]);
  assert.match(String((await cli("info", "sneaky"))["problem"]), /changed since it was enabled/);
});

test("openclaw hooks list, info, check, enable and disable match what runs", async () => {
  const { hooks } = (await cli("list")) as { hooks: Record<string, unknown>[] };
  const stateOf = Object.fromEntries(hooks.map(({ name, source, enabled, runs }) => [name, [source, enabled, runs]]));
  assert.deepEqual(stateOf, {
    "boot-md": ["bundled", true, true],
    "command-logger": ["bundled", true, true],
    garbled: ["managed", true, false],
    hangs: ["managed", false, false],
    needy: ["managed", true, false],
    "never-enabled": ["managed", false, false],
    prompt: ["managed", true, true],
    "session-memory": ["bundled", true, true],
    sneaky: ["workspace", true, false],
    speaker: ["managed", true, true],
    throws: ["managed", true, true],
    watcher: ["managed", true, true],
  });
  const eligible = (await cli("list", "--eligible")) as { hooks: { name: string }[] };
  assert.ok(eligible.hooks.every(({ name }) => !["needy", "garbled", "sneaky"].includes(name)));
  const needy = await cli("info", "needy");
  assert.deepEqual(needy["missing"], ["program surely-no-such-program", "environment NO_SUCH_ENV"]);
  const { broken } = (await cli("check")) as { broken: { name: string }[] };
  assert.deepEqual(broken.map(({ name }) => name).sort(), ["garbled", "needy", "not-there", "sneaky"]);
  await cli("disable", "watcher");
  let asked = 0;
  const isDeaf = async (): Promise<boolean> => {
    const heard = lines("watcher.jsonl").length;
    await chat(runtime.wire, "main", "/stop", `after-disable-${(asked += 1)}`);
    return lines("watcher.jsonl").length === heard;
  };
  // The edit is taken over in a moment; from then on it hears nothing more.
  await until(isDeaf, Boolean);
  assert.equal(await isDeaf(), true);
});

test("hooks enable suggests the nearest name, and hooks install says what to do instead", async () => {
  const near = await openclaw(home, ["hooks", "enable", "sesion-memory"]);
  assert.equal(near.code, 1);
  assert.match(near.stderr, /did you mean session-memory/);
  const install = await openclaw(home, ["hooks", "install", "./x"]);
  assert.equal(install.code, 1);
  assert.match(install.stderr, /cannot be installed from packages yet[\s\S]*openclaw hooks enable/);
});
