// Secrets and commands: what a child could read of ours, what its output could carry out, what refusals give away.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { calls, openTestAgents, scriptedBook } from "../harness/agent.ts";
import { exec, proc, until } from "../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../harness/gateway.ts";

const KEY = "sk-own-0123456789abcdefghijklmnop";

describe("secrets and commands", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        agents: {
          list: [
            { id: "main", default: true },
            { id: "strict", tools: { exec: { host: "gateway", ask: "off" } } },
          ],
        },
      },
      env: { OPENAI_API_KEY: KEY, AWS_SESSION_TOKEN: "aws-session-0123456789", MY_PASSWORD: "pw-0123456789abc" },
    });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  for (const command of [
    "env",
    "printenv",
    "cat /proc/self/environ",
    "set",
    "export -p",
    "cat /proc/$PPID/environ || true",
  ])
    test(`SEC-002 ${command}: the child process has no secrets, and known values are masked`, async () => {
      const { text } = await exec(gateway, { command });
      for (const secret of [KEY, "aws-session-0123456789", "pw-0123456789abc", gateway.token])
        assert.ok(!text.includes(secret), command);
    });

  test("SEC-002 masks a known value from a file in the result, also when it is encoded", async () => {
    writeFileSync(join(gateway.workspace, "leak.txt"), `${KEY}\n${Buffer.from(KEY).toString("base64")}\n`);
    const { text, details } = await exec(gateway, { command: "cat leak.txt" });
    for (const form of [KEY, Buffer.from(KEY).toString("base64")])
      assert.ok(!JSON.stringify([text, details]).includes(form));
  });

  test("SEC-006 masks a secret that is split over two polls", async () => {
    const [first, second] = [KEY.slice(0, 14), KEY.slice(14)];
    const { details } = await exec(gateway, {
      command: `printf 'a %s' '${first}'; sleep 1; printf '%s b\\n' '${second}'; sleep 30`,
      background: true,
    });
    const sessionId = details["sessionId"];
    let told = "";
    await until(
      async () => {
        const { details: news } = await proc(gateway, { action: "poll", sessionId });
        told += String(news["aggregated"]);
        await sleep(150);
        return told;
      },
      (seen) => seen.includes(" b"),
    );
    assert.ok(!told.includes(first) && !told.includes(second.slice(0, -2)), told);
    await proc(gateway, { action: "remove", sessionId });
  });

  test("EXB-034 the refusal of a filter does not reveal whether a file exists", async () => {
    const there = join(gateway.home, "there-is-one");
    const away = join(gateway.home, "there-is-non");
    writeFileSync(there, "x\n");
    const refusal = async (path: string): Promise<string> =>
      JSON.stringify(
        (await exec(gateway, { command: `head ${path}` }, { body: { sessionKey: "agent:strict:main" } })).error,
      ).replaceAll(path, "<path>");
    assert.equal(existsSync(away), false);
    assert.equal(await refusal(there), await refusal(away));
  });
});

test("POL-023 ends a run that repeats the same dangerous call twenty times", async (t) => {
  const models = scriptedBook(() => calls(["exec", { command: "echo again >> tries" }]));
  const runtime = await openTestAgents({ models });
  t.after(() => runtime.close());
  const { status } = await runtime.ask("go");
  const results = (await runtime.messages()).filter(({ role }) => role === "toolResult");
  assert.notEqual(status, "ok");
  assert.ok(results.length < 20, `${results.length} calls`);
});
