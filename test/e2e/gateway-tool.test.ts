// The gateway tool through the front door: restarts, config for agents, what waits for the owner, and who is told after.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call as invokeTool, until } from "../exec-kit.ts";
import { call, say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../fakes/openai.ts";
import { dispose, freePort, operator, startGateway, tempHome, type TestGateway, type Wire } from "../kit.ts";
import { chat, modelConfig } from "../model-kit.ts";

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** A config as people write it: JSON5 with comments. */
async function writeHome(home: string, parts: Record<string, unknown>, head: string): Promise<void> {
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const gateway = {
    mode: "local",
    port: await freePort(),
    auth: { mode: "token", token: "test-token-0123456789abcdef" },
    ...(parts["gateway"] as object | undefined),
  };
  const body = JSON.stringify({ ...parts, gateway }, null, 2);
  writeFileSync(join(state, "openclaw.json"), body.replace("{", `{\n${head}`), { mode: 0o600 });
}

export const configText = (gateway: TestGateway): string => readFileSync(join(gateway.state, "openclaw.json"), "utf8");
const pendingOf = async (wire: Wire): Promise<{ id: string; kind: string; card: Card; expiresAtMs: number }[]> =>
  (
    (await wire.request("exec.approvals.pending", {})).payload as unknown as {
      pending: { id: string; kind: string; card: Card; expiresAtMs: number }[];
    }
  ).pending;
interface Card {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
  readonly always?: string;
}

const isUp = async (gateway: TestGateway): Promise<boolean> =>
  (await fetch(`${gateway.url}/health`).catch(() => undefined))?.ok === true;

describe("an agent that changes the config", () => {
  let script: (last: Message) => Reply = () => say("hello");
  let server: FakeServer;
  let gateway: TestGateway;
  const messagesOf = ({ body }: FakeRequest): Message[] => (body as unknown as { messages: Message[] }).messages;
  const heard = (): string[] =>
    server.requests.flatMap((request) =>
      request.path.endsWith("/chat/completions") ? [JSON.stringify(messagesOf(request).at(-1)?.content)] : [],
    );
  const systemLines = (): string[] => heard().filter((text) => text.includes("System:"));

  before(async () => {
    server = await startFakeOpenAI((request) => script(messagesOf(request).at(-1) ?? { role: "none", content: "" }));
    const home = tempHome();
    const { gateway: endpoints, ...rest } = modelConfig(server);
    await writeHome(
      home,
      { gateway: endpoints as object, ...rest },
      `  // commands: ask me before anything that is not on the list\n  "tools": {\n    "exec": {\n      // never turn this off\n      "host": "gateway", "ask": "on-miss"\n    }\n  },\n`,
    );
    gateway = await startGateway({ home });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(async () => {
    await dispose(gateway);
    await server.close();
  });

  test("config.patch that loosens its own exec policy waits for the owner; allowed, it is applied once, comments stay", async () => {
    const wire = await operator(gateway);
    script = ({ role, content }) => {
      if (String(content).includes("System:")) return say("It is done.");
      return role === "tool"
        ? say("I wait for your yes.")
        : call("gateway", {
            action: "config.patch",
            raw: "{tools:{exec:{ask:'off',security:'full'}}}",
            note: "so that I can \u202erun everything",
            delayMs: 50,
          });
    };
    const before = configText(gateway);
    await chat(wire, "main", "loosen yourself", "run-loosen");
    assert.match(heard().at(-1) ?? "", /only the owner changes[\s\S]*Nothing was written/);
    assert.equal(configText(gateway), before, "not one byte before the answer");
    const [asked, ...others] = await pendingOf(wire);
    assert.deepEqual(others, []);
    assert.equal(asked?.kind, "config");
    assert.match(asked?.card.text ?? "", /^-.*"ask": "on-miss"$/m);
    assert.match(asked?.card.text ?? "", /^\+.*"ask": "off"/m);
    assert.equal(asked?.card.always, undefined);
    const rows = asked?.card.rows.map(({ label, value }) => `${label}: ${value}`) ?? [];
    assert.ok(
      rows.some((row) => row.startsWith("protected: tools.exec.ask (changed): ")),
      rows.join("\n"),
    );
    assert.ok(
      rows.some((row) => row.startsWith("protected: tools.exec.security (set): ")),
      rows.join("\n"),
    );
    assert.ok(rows.includes("its note: so that I can \\u{202e}run everything"), rows.join("\n"));
    assert.ok(rows.includes("session: agent:main:main"), rows.join("\n"));
    const always = await wire.request("exec.approval.resolve", { id: asked?.id, decision: "allow-always" });
    assert.equal(always.ok, false, "there is no always for a config change");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => wire.request("exec.approval.resolve", { id: asked?.id, decision: "allow-once" })),
    );
    assert.equal(answers.filter(({ ok }) => ok).length, 1, "one answer counts");
    await wire.closed;
    const text = configText(gateway);
    assert.match(text, /\/\/ commands: ask me before anything/);
    assert.match(text, /\/\/ never turn this off\n\s*"host": "gateway", "ask": "off"/);
    assert.match(text, /"security": "full"/);
    await until(systemLines, (lines) => lines.some((line) => line.includes("config.patch done")));
    await new Promise((resolve) => setTimeout(resolve, 700));
    const told = systemLines().filter((line) => line.includes("config.patch done"));
    assert.equal(told.length, 1, "the session is told once");
    assert.match(told[0] ?? "", /The owner allowed it/);
    assert.equal(existsSync(join(gateway.state, "restart-sentinel.json")), false);
    assert.equal(existsSync(join(gateway.state, "openclaw.json.bak.1")), false, "written once");
    const again = await operator(gateway);
    assert.deepEqual(await pendingOf(again), []);
    again.end();
  });

  test("config.patch of a harmless key is written at once, the gateway restarts and the session is woken with the note", async () => {
    const wire = await operator(gateway);
    script = ({ role, content }) => {
      if (String(content).includes("System:")) return say("Hello again.");
      return role === "tool"
        ? say("Renamed.")
        : call("gateway", {
            action: "config.patch",
            raw: "{ui:{assistant:{name:'Ada'}}}",
            note: "renamed you",
            delayMs: 60,
          });
    };
    const before = systemLines().length;
    await chat(wire, "main", "call yourself Ada", "run-rename");
    await wire.closed;
    await until(systemLines, (lines) => lines.length > before);
    assert.match(systemLines().at(-1) ?? "", /Gateway restarted \(config\.patch done, asked [^)]+\)\\n {2}renamed you/);
    assert.match(configText(gateway), /"name": "Ada"/);
    assert.match(configText(gateway), /\/\/ never turn this off/);
  });
});
