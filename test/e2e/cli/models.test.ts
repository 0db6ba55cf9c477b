// `openclaw models …` and `openclaw configure` without a gateway, against a loopback server that speaks the vendor's wire.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import { fail, say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";

const key = "sk-lab-0123456789abcdef";

interface Ground {
  readonly cli: Cli;
  readonly server: FakeServer;
}

async function ground(t: TestContext, script: Parameters<typeof startFakeOpenAI>[0]): Promise<Ground> {
  const server = await startFakeOpenAI(script, { models: ["tiny"], key });
  const cli = newCli("{\n  // mine\n  gateway: { mode: 'local' },\n}\n");
  t.after(async () => {
    cli.dispose();
    await server.close();
  });
  return { cli, server };
}

/** No local server of the machine the tests run on may answer for ours. */
const alone = { OPENCLAW_DISCOVERY_PORTS: "off" };

test("configure: writes the key to a private file, server and model to the config, and tests them with one question", async (t) => {
  const { cli, server } = await ground(t, [say("ok")]);
  const words = [
    "configure",
    "--section",
    "model",
    "--provider",
    "lab",
    "--base-url",
    server.url,
    "--model",
    "lab/tiny",
  ];
  const ran = await cli.runWith({ ...alone, LAB_KEY: `${key}\n` }, ...words, "--key-env", "LAB_KEY");
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /^the model is now lab\/tiny .*\nworks: lab\/tiny answered in \d+ ms: ok\n$/s);
  assert.match(cli.text(), /\/\/ mine/);
  assert.equal(cli.text().includes(key), false, "the config has no key in it");
  assert.equal(ran.stdout.includes(key) || ran.stderr.includes(key), false, "and nothing prints it");
  const file = join(cli.state, "agents", "main", "agent", "auth-profiles.json");
  assert.deepEqual(
    [statSync(file).mode & 0o777, (JSON.parse(readFileSync(file, "utf8")) as { profiles: unknown }).profiles],
    [0o600, { "lab:default": { type: "api_key", provider: "lab", key } }],
  );
  const status = JSON.parse(wellEnded(await cli.runWith(alone, "models", "--json", "--check"))) as Record<
    string,
    unknown
  >;
  assert.deepEqual([status["model"], status["chosenBy"], status["ready"]], ["lab/tiny", "config", true]);
  assert.match(wellEnded(await cli.runWith(alone, "models", "list", "--plain")), /^lab\/tiny$/m);
});

test("test: a wrong key is reported with its fix, exit 1; also as JSON", async (t) => {
  const { cli, server } = await ground(t, [fail(500)]);
  const words = ["configure", "--provider", "lab", "--base-url", server.url, "--model", "lab/tiny", "--skip-test"];
  wellEnded(await cli.runWith(alone, ...words, "--key", "sk-wrong-0123456789abc"));
  const wrong = await cli.runWith(alone, "models", "test");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^lab\/tiny does not answer: .+\nfix: .+\n$/s);
  const data = await cli.runWith(alone, "models", "test", "lab/tiny", "--json");
  const { provider, model, ok } = JSON.parse(data.stdout) as Record<string, unknown>;
  assert.deepEqual([data.code, provider, model, ok], [1, "lab", "tiny", false]);
});

test("finds, names and uses a server on this machine without any setting", async (t) => {
  const server = await startFakeOpenAI([say("hello")], { models: ["tiny"] });
  const cli = newCli("{}");
  t.after(async () => {
    cli.dispose();
    await server.close();
  });
  const env = { OPENCLAW_DISCOVERY_PORTS: `vllm=${new URL(server.url).port}` };
  assert.match(
    wellEnded(await cli.runWith(env, "models", "scan")),
    /^vllm\/tiny +.*\n\nuse one: openclaw models set vllm\/tiny\n$/ms,
  );
  assert.match(wellEnded(await cli.runWith(env, "models")), /^Model +vllm\/tiny \(found; not set in the config\)$/m);
  assert.match(wellEnded(await cli.runWith(env, "models", "test")), /^works: vllm\/tiny answered in \d+ ms: hello$/m);
});

test("no model: says so with the fix and exit codes for scripts", async (t) => {
  const cli = newCli("{}");
  t.after(() => cli.dispose());
  assert.equal((await cli.runWith(alone, "models", "scan")).code, 1);
  assert.equal((await cli.runWith(alone, "models", "status", "--check")).code, 1);
  assert.deepEqual(await cli.runWith(alone, "models", "test"), {
    code: 1,
    stdout: "",
    stderr: "no model is configured, and no model was found\nfix: openclaw configure --section model\n",
  });
});

test("set keeps fallbacks, aliases and comments, and adds the new model to a list of allowed ones", async (t) => {
  const cli = newCli(`{
  agents: {
    // who answers
    defaults: {
      model: { primary: "openai/gpt-5", fallbacks: ["openai/gpt-5.1"] },
      models: { "openai/gpt-5": { alias: "five" } },
    },
  },
}
`);
  t.after(() => cli.dispose());
  wellEnded(await cli.run("models", "set", "anthropic/claude-opus-4-5"));
  assert.equal(
    cli.text(),
    `{
  agents: {
    // who answers
    defaults: {
      model: { primary: "anthropic/claude-opus-4-5", fallbacks: ["openai/gpt-5.1"] },
      models: { "openai/gpt-5": { alias: "five" }, "anthropic/claude-opus-4-5": {} },
    },
  },
}
`,
  );
  wellEnded(await cli.run("models", "set", "openai/gpt-5", "--agent", "main"));
  assert.equal(wellEnded(await cli.run("config", "get", "agents.list[0].model.primary")), "openai/gpt-5\n");
  const unknown = await cli.run("models", "set", "openai/gpt-5", "--agent", "ghost");
  assert.deepEqual([unknown.code, unknown.stderr.startsWith('there is no agent "ghost"; known: main\n')], [1, true]);
  assert.equal((await cli.run("models", "set", "gpt-5")).code, 2);
});

test("configure refuses unusable values and writes nothing", async (t) => {
  const cli = newCli("{}");
  t.after(() => cli.dispose());
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[], 2, /^cannot ask "Which provider\?" without a terminal; use --provider <id>\n/],
    [["--provider", "lab"], 2, /use --model <provider\/model>\n/],
    [["--provider", "lab", "--model", "other/x"], 2, /^--model other\/x is not a model of lab\n/],
    [["--provider", "lab", "--base-url", "file:///etc", "--model", "lab/x"], 2, /^not an address/],
    [
      ["--provider", "openai", "--key-env", "NOT_SET", "--model", "openai/x"],
      1,
      /^the environment variable NOT_SET has no usable key\n/,
    ],
    [
      ["--section", "web", "--set", "gateway.port=1"],
      2,
      /^--set for section web must be one of tools\.web\.search\.provider=…/,
    ],
    [["--section", "gateway", "--set", "gateway.port=x"], 1, /^gateway\.port must be a number, not "x"\n/],
  ];
  for (const [words, code, message] of cases) {
    const ran = await cli.runWith(alone, "configure", ...words);
    assert.deepEqual([ran.code, message.test(ran.stderr)], [code, true], `${words.join(" ")}: ${ran.stderr}`);
  }
  assert.equal(cli.text(), "{}");
});
