// `openclaw agent` when no gateway runs: the turn happens in the command itself, on the same state, with the same rules.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newCli, wellEnded } from "../../harness/cli.ts";
import { call, fail, say, startFakeOpenAI, type FakeRequest, type Reply } from "../../fakes/openai.ts";

const alone = { OPENCLAW_DISCOVERY_PORTS: "off" };

function answer({ body }: FakeRequest): Reply {
  const last = (body["messages"] as readonly { role: string; content: unknown }[]).at(-1);
  const said = JSON.stringify(last?.content ?? "");
  if (last?.role === "tool") return say(said.includes("Mimi") ? "Mimi" : "nothing");
  if (said.includes("break"))
    return fail(400, { error: { message: "the lab is closed", type: "invalid_request_error" } });
  return said.includes("note") ? call("read", { path: "note.md" }) : say("Hello there");
}

test("replies, uses tools, keeps the session, records usage and reports failures", async (t) => {
  const server = await startFakeOpenAI(answer, { models: ["tiny"] });
  const lab = {
    baseUrl: server.url,
    apiKey: "none-needed",
    api: "openai-completions",
    models: [{ id: "tiny", name: "tiny" }],
  };
  const config = { agents: { defaults: { model: { primary: "lab/tiny" } } }, models: { providers: { lab } } };
  const cli = newCli(JSON.stringify(config));
  t.after(async () => {
    cli.dispose();
    await server.close();
  });
  mkdirSync(join(cli.state, "workspace"), { recursive: true });
  writeFileSync(join(cli.state, "workspace", "note.md"), "the cat is called Mimi");
  const ask = (...words: string[]) => cli.runWith(alone, "agent", ...words);

  assert.deepEqual(await ask("-m", "hello"), { code: 0, stdout: "Hello there\n", stderr: "" });
  const used = await ask("-m", "read the note", "--verbose", "on");
  assert.deepEqual([used.code, used.stdout], [0, "Mimi\n"]);
  assert.match(used.stderr, /^⚙ read path=note\.md … ok, \d+ ms\n$/);
  const sent = server.requests.at(-1)?.body["messages"] as readonly unknown[];
  assert.ok(JSON.stringify(sent).includes("Hello there"), "the session goes on over processes");

  const failed = await ask("-m", "break", "--session", "other", "--json");
  const { ok, error } = JSON.parse(failed.stdout) as { ok: boolean; error: { message: string } };
  assert.deepEqual([failed.code, ok, /the lab is closed/.test(error.message)], [1, false, true]);
  const ghost = await ask("-m", "hi", "--agent", "ghost");
  assert.deepEqual([ghost.code, /known: main/.test(ghost.stderr)], [1, true]);
  assert.equal(existsSync(join(cli.state, "workspace-ghost")), false);

  const folder = join(cli.home, "recordings");
  wellEnded(await cli.runWith({ ...alone, OPENCLAW_RECORD: folder }, "agent", "-m", "read the note"));
  const [file = ""] = readdirSync(folder);
  assert.equal(
    wellEnded(await cli.run("sessions", "replay", join(folder, file))),
    "same (1 run, 2 model turns, 1 tool call)\n",
  );
});

test("without any model: names the reason and the fix, and tools still work", async (t) => {
  const cli = newCli("{}");
  t.after(() => cli.dispose());
  const none = await cli.runWith(alone, "agent", "-m", "hello");
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.match(none.stderr, /^No model configured\.[^]*\nfix: openclaw configure --section model\n$/);
  const tool = await cli.runWith(alone, "agent", "-m", '/tool write {"path": "a.md", "content": "x"}');
  assert.equal(tool.code, 0, tool.stderr);
  assert.equal(existsSync(join(cli.state, "workspace", "a.md")), true);
});
