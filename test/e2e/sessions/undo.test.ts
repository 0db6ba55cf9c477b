// Undo through the front door: in the chat, over the wire and from the shell, with and without a gateway.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import {
  call,
  calls,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import {
  detailsOf,
  dispose,
  invoke,
  openclaw,
  operator,
  type Frame,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { chat, modelConfig, startWithModel, textOf } from "../../harness/model.ts";

const noBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status !== 0 && "needs bubblewrap";

interface Message {
  readonly role: string;
  readonly content: unknown;
}
let script: (last: Message) => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
let runs = 0;
const at = (name: string): string => join(gateway.workspace, name);
const content = (name: string): string | undefined =>
  existsSync(at(name)) ? readFileSync(at(name), "utf8") : undefined;
const talk = async (session: string, message: string) =>
  textOf(await chat(wire, session, message, `undo-${(runs += 1)}`));

/** One message, in answer to which the model makes these calls and then ends. */
async function turn(session: string, ...made: readonly [tool: string, args: object][]): Promise<void> {
  const list = made.map(([name, args]) => ({ name, args }));
  script = ({ role }) => (role === "tool" ? say("done") : calls(list));
  assert.equal(await talk(session, "go"), "done");
}

interface Undone {
  readonly turn: number;
  readonly undo?: number;
  readonly files: { readonly path: string; readonly does: string; readonly diff?: string }[];
  readonly remains: { readonly lines: string[]; readonly later: number };
}
const undo = (params: object): Promise<Frame> => wire.request("sessions.undo", params);
const undone = (frame: Frame): Undone => {
  assert.equal(frame.ok, true, JSON.stringify(frame.error));
  return frame.payload as Undone;
};

before(async () => {
  server = await startFakeOpenAI((request: FakeRequest) => {
    const { messages } = request.body as { messages: Message[] };
    return script(messages.at(-1) ?? { role: "none", content: "" });
  });
  const { providers } = modelConfig(server)["models"] as { providers: { fake: object } };
  gateway = await startWithModel(server, {
    more: {
      models: { providers: { openai: providers.fake } },
      agents: {
        defaults: { model: { primary: "openai/fake-1" } },
        list: [
          { id: "main", default: true },
          { id: "boxed", sandbox: { mode: "all" } },
        ],
      },
      tools: { exec: { host: "gateway", security: "full", ask: "off", applyPatch: { enabled: true } } },
    },
  });
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

test("the first file of a new workspace can be undone", async () => {
  assert.equal(existsSync(gateway.workspace), false);
  await turn("agent:main:first", ["write", { path: "deep/first.md", content: "first\n" }]);
  assert.equal(content("deep/first.md"), "first\n");
  assert.match(await talk("agent:main:first", "/undo"), /first\.md: removed/);
  assert.equal(content("deep/first.md"), undefined);
  mkdirSync(gateway.workspace, { recursive: true });
});

test("/undo restores all files of the last turn, shows the diff, and lists the command that ran", async () => {
  writeFileSync(at("plan.md"), "one\n", { mode: 0o640 });
  await turn(
    "main",
    ["write", { path: "plan.md", content: "two\n" }],
    ["write", { path: "notes/new.md", content: "new\n" }],
    ["exec", { command: "touch made-by-command" }],
  );
  assert.deepEqual([content("plan.md"), content("notes/new.md"), content("made-by-command")], ["two\n", "new\n", ""]);
  const said = await talk("main", "/undo");
  assert.match(said, /^Undid turn 1 /);
  assert.match(said, /plan\.md: restored/);
  assert.match(said, /new\.md: removed, because it did not exist before/);
  assert.match(said, /Cannot be undone:\n- command run \(gateway\): touch made-by-command/);
  assert.match(said, /-two\n\+one/);
  assert.deepEqual([content("plan.md"), content("notes/new.md"), existsSync(at("notes"))], ["one\n", undefined, false]);
  assert.equal(statSync(at("plan.md")).mode & 0o777, 0o640);
  assert.equal(content("made-by-command"), "", "what a command did stays");
});

test("/undo redo reverts the undo; /undo list names the turns", async () => {
  assert.match(await talk("main", "/undo redo"), /^Undid turn 2 /);
  assert.equal(content("plan.md"), "two\n");
  const listed = (await talk("main", "/undo list")).split("\n");
  assert.deepEqual(
    listed.map((line) => line.replace(/\d{4}-\S+ \S+/, "when").replaceAll(`${gateway.workspace}/`, "")),
    [
      "3  when  undo of 2: plan.md, notes/new.md",
      "2  when  undo of 1: plan.md, notes/new.md, undone",
      "1  when  plan.md, notes/new.md",
    ],
  );
  assert.match(await talk("main", "/undo show"), /^Would undo turn 1 /);
  assert.equal(content("plan.md"), "two\n");
  assert.match(await talk("main", "/undo sideways"), /^Usage: \/undo/);
});

test("keeps a later change by others and shows its diff; force undoes it anyway", async () => {
  writeFileSync(at("shared.md"), "base\n");
  await turn("agent:main:foreign", ["edit", { path: "shared.md", oldText: "base", newText: "agent" }]);
  writeFileSync(at("shared.md"), "agent\nand me\n");
  const said = await talk("agent:main:foreign", "/undo");
  assert.match(said, /changed by another person or program since turn 1: .*shared\.md; nothing was undone/);
  assert.match(said, /-and me/);
  assert.equal(content("shared.md"), "agent\nand me\n");
  const refusal = await undo({ key: "agent:main:foreign" });
  assert.equal(refusal.ok, false);
  assert.match(JSON.stringify(detailsOf(refusal)), /undo\.changed|and me/);
  assert.match(await talk("agent:main:foreign", "/undo force"), /^Undid turn 1/);
  assert.equal(content("shared.md"), "base\n");
});

test("sessions.undo: list, dry run, one turn by its number, and nothing to undo", async () => {
  const key = "agent:main:wire";
  await turn(key, ["write", { path: "w1.md", content: "1" }]);
  await turn(
    key,
    ["apply_patch", { input: "*** Begin Patch\n*** Add File: w2.md\n+2\n*** End Patch" }],
    ["write", { path: "w3.md", content: "3" }],
  );
  const { turns } = (await undo({ key, list: true })).payload as {
    turns: { turn: number; files: string[]; undone: boolean }[];
  };
  assert.deepEqual(
    turns.map(({ turn: n, files, undone: isUndone }) => [
      n,
      files.map((path) => path.slice(gateway.workspace.length + 1)).toSorted(),
      isUndone,
    ]),
    [
      [2, ["w2.md", "w3.md"], false],
      [1, ["w1.md"], false],
    ],
  );
  assert.equal(undone(await undo({ key, dryRun: true })).undo, undefined);
  assert.equal(content("w3.md"), "3");
  assert.deepEqual(
    undone(await undo({ key, turn: 1 })).files.map(({ does }) => does),
    ["removed"],
  );
  assert.deepEqual([content("w1.md"), content("w3.md")], [undefined, "3"]);
  assert.equal(undone(await undo({ key })).turn, 2);
  assert.deepEqual([content("w2.md"), content("w3.md")], [undefined, undefined]);
  const nothing = await undo({ key });
  assert.equal(nothing.ok, false);
  assert.match(nothing.error?.message ?? "", /no file change to undo/);
});

test("a call over HTTP is a turn of its own", async () => {
  const body = { sessionKey: "agent:main:outside" };
  await invoke(gateway, "write", { path: "o.md", content: "1" }, { body });
  await invoke(gateway, "write", { path: "o.md", content: "2" }, { body });
  undone(await undo({ key: body.sessionKey }));
  assert.equal(content("o.md"), "1");
  undone(await undo({ key: body.sessionKey }));
  assert.equal(content("o.md"), undefined);
});

test("a client with read and write scope cannot undo", async () => {
  const limited = await operator(gateway, { scopes: ["operator.read", "operator.write"] });
  const answer = await limited.request("sessions.undo", { key: "main" });
  assert.match(answer.error?.message ?? "", /operator\.admin/);
  const { runId } = { runId: "undo-limited" };
  assert.match(
    textOf(await chat(limited, "main", "/undo", runId)),
    /Only a sender who may answer approvals can undo here/,
  );
  assert.equal(content("plan.md"), "two\n");
  limited.end();
});

test("sessions.undo is refused during a run; /undo waits for its end", async () => {
  const key = "agent:main:busy";
  await turn(key, ["write", { path: "busy.md", content: "1" }]);
  const command = "touch begun; while [ ! -e go-on ]; do sleep 0.1; done; echo late > late.txt";
  script = ({ role }) => (role === "tool" ? say("done") : call("exec", { command, yieldMs: 300_000 }));
  const running = chat(wire, key, "take your time", "undo-busy");
  await until(() => existsSync(at("begun")), Boolean);
  assert.match((await undo({ key })).error?.message ?? "", /a run is active/);
  const said = talk(key, "/undo");
  writeFileSync(at("go-on"), "");
  await running;
  assert.match(await said, /^Undid turn 1 /);
  assert.deepEqual([content("late.txt"), content("busy.md")], ["late\n", undefined]);
});

test("openclaw sessions undo: dry run, undo, list as JSON, through the gateway", async () => {
  const key = "agent:main:shell";
  await turn(key, ["write", { path: "s.md", content: "shell\n" }], ["exec", { command: "true && echo ran" }]);
  const dry = await openclaw(gateway.home, ["sessions", "undo", "--session", key, "--dry-run"]);
  assert.deepEqual([dry.code, dry.stderr], [0, ""]);
  assert.match(dry.stdout, /^Would undo turn 1 /);
  assert.match(dry.stdout, /-shell/);
  assert.equal(content("s.md"), "shell\n");
  const done = await openclaw(gateway.home, ["sessions", "undo", "--session", key]);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /Cannot be undone:\n- command run \(gateway\): true && echo ran/);
  assert.equal(content("s.md"), undefined);
  const list = await openclaw(gateway.home, ["sessions", "undo", "--session", key, "--list", "--json"]);
  const { turns } = JSON.parse(list.stdout) as { turns: { turn: number; undone: boolean }[] };
  assert.deepEqual(
    turns.map(({ turn: n, undone: isUndone }) => [n, isUndone]),
    [
      [2, false],
      [1, true],
    ],
  );
  const wrong = await openclaw(gateway.home, ["sessions", "undo", "--turn", "x"]);
  assert.equal(wrong.code, 2);
});

test("restores what a sandboxed session changed in its own workspace", { skip: noBubblewrap }, async () => {
  const key = "agent:boxed:main";
  await turn(key, ["write", { path: "/workspace/box.md", content: "in the box\n" }]);
  const { files } = undone(await undo({ key }));
  assert.deepEqual(
    files.map(({ does }) => does),
    ["removed"],
  );
  assert.ok(files[0]?.path.startsWith(join(gateway.state, "sandboxes")), files[0]?.path);
  assert.equal(existsSync(files[0]?.path ?? ""), false);
  undone(await undo({ key, redo: true }));
  assert.equal(readFileSync(files[0]?.path ?? "", "utf8"), "in the box\n");
});

test("deleting a session deletes its undo copies, which are private until then", async () => {
  const key = "agent:main:dropped";
  await turn(key, ["write", { path: "d.md", content: "d" }]);
  assert.equal(statSync(join(gateway.state, "undo")).mode & 0o777, 0o700);
  await wire.request("sessions.delete", { key });
  const { turns } = (await undo({ key, list: true })).payload as { turns: unknown[] };
  assert.deepEqual(turns, []);
});

test("after kill -9 of the gateway the last turn can still be undone, also without a gateway", async () => {
  const key = "agent:main:killed";
  writeFileSync(at("k.md"), "before\n");
  await turn(key, ["write", { path: "k.md", content: "after\n" }]);
  await gateway.stop("SIGKILL");
  const list = await openclaw(gateway.home, ["sessions", "undo", "--session", key, "--list"]);
  assert.match(list.stdout, /^1 .*k\.md/);
  const ran = await openclaw(gateway.home, ["sessions", "undo", "--session", key, "--json"]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(content("k.md"), "before\n");
});
