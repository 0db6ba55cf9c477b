// The config as published clients read and save it: a form sends back what it was shown, with its edits.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
  dispose,
  freePort,
  operator,
  startGateway,
  tempHome,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";

describe("the config over the wire", () => {
  let gateway: TestGateway;
  let wire: Wire;
  let file: string;
  let text: string;

  before(async () => {
    const home = tempHome();
    mkdirSync(join(home, ".openclaw"), { recursive: true, mode: 0o700 });
    file = join(home, ".openclaw", "openclaw.json");
    text = `{
  // mine
  gateway: {
    mode: "local",
    port: ${await freePort()}, // the port
    auth: { mode: "token", token: "test-token-0123456789abcdef" },
    reload: { mode: "off" },
  },
  models: { providers: { own: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "\${OWN_KEY}", models: [] } } },
  ui: { seamColor: '#123456' }, /* color */
}
`;
    writeFileSync(file, text, { mode: 0o600 });
    gateway = await startGateway({ home, env: { OWN_KEY: "sk-own-0123456789" } });
    wire = await operator(gateway);
  });
  after(() => dispose(gateway));

  const read = async () => {
    const { config, ...rest } = await wire.call("config.get", {});
    return { ...rest, config: config as Record<string, unknown> };
  };
  const form = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

  test("config.get shows the set values and the defaults of published clients", async () => {
    const snapshot = await wire.call("config.get", {});
    assert.deepEqual(Object.keys(snapshot), [
      "path",
      "exists",
      "raw",
      "parsed",
      "valid",
      "config",
      "hash",
      "issues",
      "warnings",
      "legacyIssues",
    ]);
    assert.deepEqual(Object.keys(snapshot["config"] as object).toSorted(), [
      "agents",
      "commands",
      "gateway",
      "logging",
      "messages",
      "models",
      "ui",
    ]);
  });

  test("config.set of a form writes the edited value and leaves every other byte", async () => {
    const { config, hash } = await read();
    const raw = form({ ...config, ui: { seamColor: "#abcdef" } });
    const saved = await wire.request("config.set", { raw, baseHash: hash });
    assert.equal(saved.ok, true, JSON.stringify(saved));
    text = text.replace("'#123456'", '"#abcdef"');
    assert.equal(readFileSync(file, "utf8"), text);
    const answer = saved.payload as { config: unknown; hash: string };
    const now = await read();
    assert.deepEqual([answer.config, answer.hash], [now.config, now.hash]);
  });

  test("config.set refuses a missing or old base hash and invalid values", async () => {
    const { config, hash } = await read();
    const raw = form(config);
    const refused = async (params: object): Promise<string | undefined> =>
      (await wire.request("config.set", params)).error?.message;
    assert.equal(await refused({ raw }), "config base hash required; re-run config.get and retry");
    assert.equal(
      await refused({ raw, baseHash: "0".repeat(64) }),
      "config changed since last load; re-run config.get and retry",
    );
    const bad = await wire.request("config.set", { raw: form({ ...config, zzz: 1 }), baseHash: hash });
    assert.equal(bad.error?.code, "INVALID_REQUEST");
    assert.equal(readFileSync(file, "utf8"), text);
  });

  test("config.apply of a form keeps secrets and references, and requests the restart as recorded", async () => {
    const { config, hash } = await read();
    const raw = form({ ...config, messages: { ackReactionScope: "all" } });
    const answer = await wire.call("config.apply", { raw, baseHash: hash, note: "done", restartDelayMs: 60_000 });
    assert.deepEqual(Object.keys(answer), ["ok", "path", "config", "hash", "restart", "sentinel"]);
    assert.deepEqual(Object.keys(answer.restart), ["ok", "pid", "signal", "delayMs", "reason", "mode"]);
    const next = readFileSync(file, "utf8");
    assert.equal(
      next,
      text.replace("/* color */\n", '/* color */\n  messages: {\n    ackReactionScope: "all",\n  },\n'),
    );
  });
});
