// The command line talks to an agent through a real gateway and a model server on loopback: reply, tools, stop, record.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import {
  call,
  fail,
  hang,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import { dispose, root, startGateway, tempHome, type Ran, type TestGateway } from "../../harness/gateway.ts";

const secret = "sk-lab-0123456789abcdef";
let server: FakeServer;
let gateway: TestGateway;
let cli: Cli;
let recordings: string;
let isSlow = true;

before(async () => {
  const home = tempHome();
  recordings = join(home, "recordings");
  server = await startFakeOpenAI(answer, { models: ["tiny"], key: secret });
  const models = [{ id: "tiny", name: "tiny", contextWindow: 32_000, maxTokens: 1000, cost: { input: 1, output: 2 } }];
  gateway = await startGateway({
    home,
    env: { OPENCLAW_RECORD: recordings, OPENCLAW_DISCOVERY_PORTS: "off" },
    config: {
      agents: { defaults: { model: { primary: "lab/tiny" } }, list: [{ id: "main" }, { id: "support" }] },
      models: { providers: { lab: { baseUrl: server.url, apiKey: secret, api: "openai-completions", models } } },
    },
  });
  cli = newCli(undefined, home);
  mkdirSync(gateway.workspace, { recursive: true });
  writeFileSync(join(gateway.workspace, "note.md"), "the cat is called Mimi");
});

after(async () => {
  await dispose(gateway);
  await server.close();
});

/** Plays by what the person said last; a tool's result is answered in words. */
function answer({ body }: FakeRequest): Reply {
  const messages = body["messages"] as readonly { role: string; content: unknown }[];
  const last = messages.at(-1);
  const said = JSON.stringify(last?.content ?? "");
  if (last?.role === "tool") return say(`it says: ${said.includes("Mimi") ? "Mimi" : "nothing"}`, { chunks: 3 });
  if (said.includes("read the note")) return call("read", { path: "note.md" });
  if (said.includes("read nothing")) return call("read", { path: "none.md" });
  if (said.includes("take long")) return isSlow ? hang("after") : say("Back again");
  if (said.includes("break"))
    return fail(400, { error: { message: "the lab is closed", type: "invalid_request_error" } });
  return say("Hello there", { chunks: 3 });
}

test("agent --message prints the reply, and with --json the recorded shape", async () => {
  assert.deepEqual(await cli.run("agent", "--message", "hello"), { code: 0, stdout: "Hello there\n", stderr: "" });
  const data = JSON.parse(wellEnded(await cli.run("agent", "--agent", "support", "-m", "hello", "--json"))) as {
    runId: string;
    status: string;
    summary: string;
    result: { payloads: unknown; meta: { durationMs: number; agentMeta: Record<string, unknown> } };
  };
  const { provider, model, usage, sessionId } = data.result.meta.agentMeta;
  assert.deepEqual(
    [data.status, data.result.payloads, provider, model, typeof sessionId, typeof usage],
    ["ok", [{ text: "Hello there", mediaUrl: null }], "lab", "tiny", "string", "object"],
  );
});

test("agent: runs tools, and --verbose shows them on stderr", async () => {
  const { code, stdout, stderr } = await cli.run(
    "agent",
    "--session",
    "tools",
    "-m",
    "read the note",
    "--verbose",
    "on",
  );
  assert.deepEqual([code, stdout], [0, "it says: Mimi\n"]);
  assert.match(stderr, /^⚙ read path=note\.md … ok, \d+ ms\n$/);
  const full = await cli.run("agent", "--session", "tools", "-m", "read the note", "--verbose", "full");
  assert.match(full.stderr, /\n {2}the cat is called Mimi\n/);
});

test("agent: a failure is exit 1 with the reason; an unknown agent is refused with the known ones", async () => {
  const failed = await cli.run("agent", "--session", "bad", "-m", "break");
  assert.deepEqual([failed.code, failed.stdout, /the lab is closed/.test(failed.stderr)], [1, "", true], failed.stderr);
  const ghost = await cli.run("agent", "--agent", "ghost", "-m", "hi");
  assert.deepEqual([ghost.code, /known: main, support/.test(ghost.stderr)], [1, true]);
  assert.equal((await cli.run("agent")).code, 2);
});

test("agent: Ctrl-C stops the run itself, not only the command", async () => {
  const asked = server.requests.length;
  const child = start(["agent", "--session", "slow", "-m", "take long"]);
  await until(() => server.requests.length > asked);
  const request = server.requests.at(-1);
  child.kill("SIGINT");
  const { code, stderr } = await child.ended;
  await request?.cut; // the gateway hung up on the model
  assert.deepEqual([code, stderr], [130, "stopping; press Ctrl-C again to exit immediately\nthe run was stopped\n"]);
});

test("chat from a pipe: one message per line, tools on one line, commands are passed on", async () => {
  const { code, stdout, stderr } = await piped(
    ["chat", "--session", "pipe"],
    "hello\n\nread the note\nread nothing\n/help\n",
  );
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = stdout.split("\n");
  assert.deepEqual([lines[0], lines[2]], ["Hello there", "it says: Mimi"]);
  assert.match(lines[1] ?? "", /^⚙ read path=note\.md … ok, \d+ ms$/);
  assert.match(lines[3] ?? "", /^⚙ read path=none\.md … failed, \d+ ms: /);
  assert.match(stdout, /\/status/);
});

test("chat --json: one object per message; a failed last turn is exit 1", async () => {
  const { code, stdout } = await piped(["chat", "--session", "pipe2", "--json"], "hello\nbreak\n");
  const [first = "", second = ""] = stdout.trim().split("\n");
  const [one, two] = [first, second].map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual([one?.["status"], one?.["text"]], ["ok", "Hello there"]);
  assert.deepEqual([two?.["status"], code], ["error", 1]);
  assert.match(String(two?.["error"]), /the lab is closed/);
});

test("chat: refuses an unknown agent and another agent's session before any message", async () => {
  const ghost = await piped(["chat", "--agent", "ghost"], "hi\n");
  assert.deepEqual([ghost.code, ghost.stderr.split("\n")[0]], [1, 'there is no agent "ghost"; known: main, support']);
  assert.equal((await piped(["chat", "--agent", "support", "--session", "agent:main:x"], "hi\n")).code, 2);
});

test("sessions: list, history, export", async () => {
  assert.match(wellEnded(await cli.run("sessions")), /^agent:main:pipe +/m);
  const history = wellEnded(await cli.run("sessions", "history", "pipe", "--tools"));
  assert.match(history, /> .*read the note\n⚙ read path=note\.md\n⚙ read ok: the cat is called Mimi\nit says: Mimi\n/);
  const file = join(gateway.home, "pipe.jsonl");
  assert.match(
    wellEnded(await cli.run("sessions", "export", "pipe", "--out", file)),
    /^wrote \d+ entries of agent:main:pipe to /,
  );
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(
    [lines[0]?.["type"], lines[0]?.["key"], lines[1]?.["parentId"]],
    ["session", "agent:main:pipe", null],
  );
  assert.ok(
    lines.slice(2).every((line, at) => line["parentId"] === lines[at + 1]?.["id"]),
    "a chain",
  );
  assert.equal((await cli.run("sessions", "export", "pipe", "--out", file)).code, 1);
  assert.equal((await cli.run("sessions", "export", "ghost")).code, 1);
});

test("models and usage through the running gateway", async () => {
  assert.match(wellEnded(await cli.run("models")), /^Model +lab\/tiny$[^]*^Asked +the running gateway$/m);
  assert.match(wellEnded(await cli.run("models", "test")), /^works: lab\/tiny answered in \d+ ms: Hello there$/m);
  assert.match(wellEnded(await cli.run("usage")), /^all +\d+ .*\$0\.\d{4}$/m);
  const { totals } = JSON.parse(wellEnded(await cli.run("usage", "--agent", "support", "--json"))) as {
    totals: { totalTokens: number };
  };
  assert.ok(totals.totalTokens > 0, JSON.stringify(totals));
});

test("a recording replays identically, has no secrets, and a changed line is reported as the first difference", async () => {
  const files = readdirSync(recordings);
  assert.ok(files.length >= 6, files.join(" "));
  for (const file of files) {
    const path = join(recordings, file);
    assert.equal(readFileSync(path, "utf8").includes(secret), false);
    const ran = await cli.run("sessions", "replay", path);
    assert.match(
      ran.stdout,
      /^same \(\d+ runs?, \d+ model turns?, \d+ tool calls?\)\n$/,
      `${file}: ${ran.stdout}${ran.stderr}`,
    );
  }
  const pipe = join(recordings, files.find((file) => file.startsWith("agent_main_pipe-")) ?? "");
  writeFileSync(pipe, readFileSync(pipe, "utf8").replace('"args":{"path":"note.md"}', '"args":{"path":"other.md"}'));
  const changed = await cli.run("sessions", "replay", pipe);
  assert.equal(changed.code, 1);
  assert.match(
    changed.stdout,
    /^differs in turn 2, tool call 1, at args\.path\n {2}recorded {2}"other\.md"\n {2}now {7}"note\.md"\n/,
  );
});

test("a gateway that disappears during a reply ends the chat with the reason, and the session stays usable", async () => {
  const asked = server.requests.length;
  const child = start(["chat", "--session", "cut"]);
  child.stdin.write("take long\n");
  await until(() => server.requests.length > asked);
  await gateway.stop("SIGKILL");
  const { code, stderr } = await child.ended;
  assert.deepEqual([code, stderr.split("\n").length], [1, 3], stderr);
  assert.match(stderr, /^the gateway at ws:\S+ closed the connection \(.*\)\nfix: openclaw logs\n$/);
  isSlow = false; // the turn that was cut off may be taken up again, and is answered before the next one
  gateway = await startGateway({ home: gateway.home, env: { OPENCLAW_DISCOVERY_PORTS: "off" } });
  assert.match(wellEnded(await cli.run("agent", "--session", "cut", "-m", "hello")), /^(?:Hello there|Back again)\n$/);
});

interface Running {
  readonly ended: Promise<Ran>;
  kill(signal: NodeJS.Signals): void;
  readonly stdin: NodeJS.WritableStream;
}

function start(words: readonly string[]): Running {
  const child = spawn(process.execPath, [join(root, "openclaw.mjs"), ...words], {
    cwd: gateway.home,
    env: {
      PATH: process.env["PATH"],
      HOME: gateway.home,
      NO_COLOR: "1",
      XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache"),
    },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ran>((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
  return { ended, kill: (signal) => void child.kill(signal), stdin: child.stdin };
}

function piped(words: readonly string[], input: string): Promise<Ran> {
  const child = start(words);
  child.stdin.end(input);
  return child.ended;
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 10));
}
