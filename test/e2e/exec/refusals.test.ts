// Who has the last word when a command is refused on the gateway's host: tool policy, config, session, approvals file.
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { asAgent, exec, writeApprovals } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";

describe("on the gateway's host", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { host: "gateway", ask: "off" } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "shut", tools: { exec: { security: "deny" } } },
            { id: "none", tools: { deny: ["exec"] } },
          ],
        },
      },
    });
    for (const id of ["", "-shut", "-none"]) mkdirSync(gateway.workspace + id, { recursive: true });
  });
  after(() => dispose(gateway));

  test("tools.deny removes exec whatever the approvals allow: the result names the rule and where a command would have run", async () => {
    writeApprovals(gateway.state, { agents: { "*": { security: "full", ask: "off" } } });
    const { error } = await exec(gateway, { command: "uname" }, asAgent("none"));
    assert.equal(error?.type, "tool.refused");
    const explain = String(error?.details?.["explain"]);
    assert.match(explain, /agents\.list\[2\]\.tools\.deny/);
    assert.match(explain, /^If it were allowed, a call would run: on the gateway host, under approvals$/m);
    assert.match(explain, /^ {2}- host=gateway \(tools\.exec\.host\)$/m);
  });

  test("security=deny in the config is not a tool policy: exec exists, the host is closed, and the file cannot loosen it", async () => {
    writeApprovals(gateway.state, { agents: { "*": { security: "full", ask: "off" } } });
    const { error } = await exec(gateway, { command: "uname" }, asAgent("shut"));
    assert.deepEqual([error?.type, error?.details?.["refused"]], ["exec.denied", true]);
  });

  test("B15 a session's security=full and ask=off allow a whole line; a deny in the file still applies", async () => {
    const wire = await operator(gateway);
    assert.equal(
      (await wire.request("sessions.patch", { key: "main", execSecurity: "full", execAsk: "off" })).ok,
      true,
    );
    rmSync(join(gateway.state, "exec-approvals.json"));
    assert.equal((await exec(gateway, { command: "echo a && echo b" })).text.trim(), "a\nb");
    writeApprovals(gateway.state, { defaults: { security: "deny" } });
    assert.equal((await exec(gateway, { command: "uname" })).error?.type, "exec.denied");
    wire.end();
  });

  test("the journal of a call records where it ran", async () => {
    const wire = await operator(gateway);
    await exec(gateway, { command: "uname" }, asAgent("shut"));
    const payload = await wire.call("tools.journal", { limit: 1 });
    const decision = payload.entries[0]?.decision as { place: string } | undefined;
    assert.equal(decision?.place, "nowhere: every command is denied");
    wire.end();
  });
});
