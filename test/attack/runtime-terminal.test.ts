// A person's own terminal: what models, commands and senders bring in is shown there, never obeyed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { exec } from "../harness/exec.ts";
import { call, fail, say, startFakeOpenAI, type FakeServer, type Reply } from "../fakes/openai.ts";
import { dispose, operator, root, type TestGateway, type Wire } from "../harness/gateway.ts";
import { startAsking } from "./asking.cases.ts";

const EVIL =
  "\u001b]52;c;ZXZpbA==\u0007\u001b]0;title\u0007\u009d52;c;eA==\u009c\u009b2J\u001b]8;;https://evil.example\u001b\\";
/** Parts that only a sequence that went through whole would have next to each other. */
// oxlint-disable-next-line no-control-regex
const obeyed = /\u001b\](?:52|0|8);|\u009d|\u009b|\u009c/u;

const skip = existsSync("/usr/bin/script") ? false : "script is absent: apt-get install bsdutils";

let script: (last: { role: string }) => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
before(async () => {
  server = await startFakeOpenAI(({ body }) =>
    script((body as { messages: { role: string }[] }).messages.at(-1) ?? { role: "none" }),
  );
  gateway = await startAsking(server);
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

interface Typed {
  readonly text: string;
  /** The end of input comes when this was shown: sooner it would end a conversation in mid-reply. */
  readonly until: RegExp;
}

/** `openclaw …` in a terminal of script(1): all that the person's terminal gets. */
function inTerminal(words: string, typed?: Typed): Promise<string> {
  const line = `${process.execPath} ${join(root, "openclaw.mjs")} ${words}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: gateway.home,
    env: { PATH: process.env["PATH"], HOME: gateway.home, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (typed === undefined) child.stdin.end();
  else child.stdin.write(typed.text);
  let shown = "";
  child.stdout.on("data", (bytes: Buffer) => {
    shown += bytes.toString();
    if (typed?.until.test(shown) === true) child.stdin.end();
  });
  child.stderr.on("data", (bytes: Buffer) => (shown += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(shown));
  });
}

test("a reply, a tool call and its result", { skip }, async () => {
  script = ({ role }) =>
    role === "tool"
      ? say(`the reply ${EVIL} ends`)
      : call("exec", { command: `printf '%s' '${EVIL}' >&2; exit 3 # ${EVIL}` });
  const shown = await inTerminal("agent --verbose full --message hello");
  assert.match(shown, /the reply/);
  assert.doesNotMatch(shown, obeyed);
});

test("an error of the model server", { skip }, async () => {
  script = () => fail(400, { error: { message: `no ${EVIL}`, type: "invalid_request_error" } });
  const shown = await inTerminal("agent --message hello");
  assert.doesNotMatch(shown, obeyed);
  script = () => say("hello");
});

test("an approval question, the pending list, the session's history and the log", { skip }, async () => {
  const command = `echo '${EVIL}'`;
  await exec(gateway, { command }, { body: { sessionKey: "agent:asks:main" } });
  await wire.request("no.such.method", { [`x${EVIL}`]: EVIL });
  await wire.request(`method${EVIL}`, {});
  for (const words of [
    "approvals pending",
    "approvals get",
    "sessions list",
    "sessions history main",
    "logs",
    "status",
  ])
    for (const json of ["", " --json"]) assert.doesNotMatch(await inTerminal(`${words}${json}`), obeyed, words + json);
});

test("a file read as JSON, which leaves some control characters unescaped", { skip }, async () => {
  writeFileSync(join(gateway.workspace, "evil.txt"), `${EVIL}\nend`);
  const shown = await inTerminal("tools call read path=evil.txt --json");
  assert.match(shown, /end/);
  assert.doesNotMatch(shown, obeyed);
});

test("a conversation", { skip, timeout: 300_000 }, async () => {
  script = () => say(`the answer ${EVIL} ends`);
  const shown = await inTerminal("chat", { text: "hello\n", until: /the answer[^]* ends/ });
  assert.match(shown, /the answer/);
  assert.doesNotMatch(shown, obeyed);
});
