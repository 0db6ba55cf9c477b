// The command line in a real terminal, under tmux: a conversation with tools and Esc, and a key that is never shown.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { newCli } from "../../harness/cli.ts";
import { call, say, startFakeOpenAI, type FakeRequest, type Reply } from "../../fakes/openai.ts";
import { dispose, root, startGateway } from "../../harness/gateway.ts";

const noTmux: string | false = spawnSync("tmux", ["-V"]).status === 0 ? false : "needs tmux, which is not installed";
const secret = "sk-lab-0123456789abcdef";
const WAIT_MS = 60_000;

interface Screen {
  type(text: string): void;
  /** Names of tmux: `Enter`, `Escape`, `C-c`. */
  press(...keys: readonly string[]): void;
  text(): string;
  /** Until the screen matches; fails with what it shows instead. */
  shows(pattern: RegExp): Promise<void>;
}

/** A terminal of its own on a tmux server of its own. */
function openScreen(t: TestContext, home: string, words: string): Screen {
  const server = `openclaw-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-L", server, "-f", "/dev/null", ...args]).toString();
  const env = `HOME='${home}' PATH='${process.env["PATH"] ?? ""}' XDG_CACHE_HOME='${join(tmpdir(), "openclaw-test-cache")}' OPENCLAW_DISCOVERY_PORTS=off`;
  const program = `'${process.execPath}' '${join(root, "openclaw.mjs")}' ${words}`;
  tmux("new-session", "-d", "-s", "s", "-x", "100", "-y", "40", `env ${env} ${program}; echo "left with $?"; sleep 60`);
  t.after(() => tmux("kill-server"));
  const text = (): string => tmux("capture-pane", "-p", "-t", "s").trimEnd();
  return {
    type: (written) => void tmux("send-keys", "-t", "s", "-l", written),
    press: (...keys) => void tmux("send-keys", "-t", "s", ...keys),
    text,
    async shows(pattern) {
      for (let waited = 0; !pattern.test(text()); waited += 50) {
        if (waited > WAIT_MS) assert.match(text(), pattern);
        await sleep(50);
      }
    },
  };
}

function answer({ body }: FakeRequest): Reply {
  const last = (body["messages"] as readonly { role: string; content: unknown }[]).at(-1);
  const said = JSON.stringify(last?.content ?? "");
  if (last?.role === "tool") return say("it says: Mimi");
  if (said.includes("the note")) return call("read", { path: "note.md" });
  if (said.includes("be long")) return say("word ".repeat(600), { chunks: 600, delayMs: 50 });
  return say("Hello there");
}

test(
  "a conversation streams, shows tools, stops on Esc, keeps typed-ahead input, and ends on a second Ctrl-C",
  { skip: noTmux },
  async (t) => {
    const server = await startFakeOpenAI(answer, { models: ["tiny"] });
    const lab = {
      baseUrl: server.url,
      apiKey: secret,
      api: "openai-completions",
      models: [{ id: "tiny", name: "tiny" }],
    };
    const gateway = await startGateway({
      env: { OPENCLAW_DISCOVERY_PORTS: "off" },
      config: { agents: { defaults: { model: { primary: "lab/tiny" } } }, models: { providers: { lab } } },
    });
    t.after(async () => {
      await dispose(gateway);
      await server.close();
    });
    mkdirSync(gateway.workspace, { recursive: true });
    writeFileSync(join(gateway.workspace, "note.md"), "the cat is called Mimi");

    const screen = openScreen(t, gateway.home, "chat --no-color");
    await screen.shows(/^agent:main:main · Esc stops a reply.*\n>$/m);
    screen.type("hello");
    screen.press("Enter");
    await screen.shows(/> hello\nHello there\n>$/);
    screen.type("read the note");
    screen.press("Enter");
    await screen.shows(/> read the note\n⚙ read path=note\.md … ok, \d+ ms\nit says: Mimi\n>$/);

    screen.type("one\ntwo");
    await screen.shows(/> one\ntwo$/);
    screen.press("Enter");
    await screen.shows(/two\nHello there\n>$/);
    const pasted = JSON.stringify(server.requests.at(-1)?.body["messages"]);
    assert.ok(pasted.includes(String.raw`one\ntwo`), "what was pasted is one message");

    screen.type("be long");
    screen.press("Enter");
    await screen.shows(/> be long\nword word word/);
    const request = server.requests.at(-1);
    screen.type("typed ahead");
    screen.press("Escape");
    await screen.shows(/word\n\(stopped\)\n> typed ahead$/);
    await request?.cut; // the model was hung up on

    screen.press("C-c");
    await screen.shows(/\(press Ctrl-C again to exit\)\n>$/);
    screen.type("/status");
    screen.press("Enter");
    await screen.shows(/> \/status\n[^]*lab\/tiny[^]*\n>$/);
    screen.press("C-c", "C-c");
    await screen.shows(/left with 0/);

    const again = openScreen(t, gateway.home, "chat --no-color --history 4");
    await again.shows(/^agent:main:main.*\n> .*be long\nword [^]*\n>$/m);
    again.press("C-d");
    await again.shows(/left with 0/);
  },
);

test(
  "configure asks for provider, address, key and model; the key never appears on the screen",
  { skip: noTmux },
  async (t) => {
    const server = await startFakeOpenAI([say("ready")], { models: ["tiny"], key: secret });
    const cli = newCli("{}");
    t.after(async () => {
      cli.dispose();
      await server.close();
    });
    const screen = openScreen(t, cli.home, "configure --section model --no-color");
    await screen.shows(/Which provider\?\n {2}1 {2}anthropic\n[^]*1-5:$/);
    screen.type("5");
    screen.press("Enter");
    await screen.shows(/A short name for it, such as ollama:$/);
    screen.type("lab");
    screen.press("Enter");
    await screen.shows(/Its address, such as \S+:$/);
    screen.type(server.url);
    screen.press("Enter");
    await screen.shows(/API key \(empty for none\):$/);
    screen.type(secret);
    screen.press("Enter");
    await screen.shows(/Name of the model at lab:$/);
    screen.type("tiny");
    screen.press("Enter");
    await screen.shows(/works: lab\/tiny answered in \d+ ms: ready\nleft with 0/);
    assert.equal(screen.text().includes(secret), false);
    const file = join(cli.state, "agents", "main", "agent", "auth-profiles.json");
    assert.equal(readFileSync(file, "utf8").includes(secret), true);
  },
);
