// Where the decision record says a command would run: every place, with the keys that put it there.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { describeRoute } from "./describe-route.ts";

const main = "main" as AgentId;
const session = "an authorized sender can set host, security, ask and node for one session with /exec";

test("sandbox off: on the host without approvals, with the command that changes it", () => {
  assert.deepEqual(describeRoute({}, main, false), {
    runs: "open",
    summary: "on the gateway host itself, without approvals, because the sandbox is off",
    rules: [
      "host=sandbox (tools.exec.host, not set)",
      "sandbox mode off (agents.defaults.sandbox.mode, not set)",
      "security and ask do not apply to host=sandbox",
      session,
    ],
    caution: {
      text: "Commands of agent main run on the gateway host with the gateway's rights and without approval, because the sandbox is off.",
      fix: "openclaw config set agents.defaults.sandbox.mode all",
    },
  });
});

test("non-main: the main session runs on the host, others in the sandbox", () => {
  const config: Config = { agents: { defaults: { sandbox: { mode: "non-main", backend: "docker" } } } };
  const outside = describeRoute(config, main, false);
  assert.equal(outside.summary, "on the gateway host itself, without approvals, because this is the main session");
  assert.deepEqual(describeRoute(config, main, true), {
    runs: "sandbox",
    summary: "in the sandbox (backend docker), without approvals",
    rules: [
      "host=sandbox (tools.exec.host, not set)",
      "sandbox mode non-main (agents.defaults.sandbox.mode)",
      "security and ask do not apply in the sandbox",
      session,
    ],
  });
});

test("gateway host: under approvals, with the agent's own keys where set", () => {
  const config: Config = {
    tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    agents: { list: [{ id: "main" }, { id: "careful", tools: { exec: { security: "allowlist", ask: "always" } } }] },
  };
  assert.deepEqual(describeRoute(config, "careful" as AgentId, false), {
    runs: "gateway",
    summary: "on the gateway host, under approvals",
    rules: [
      "host=gateway (tools.exec.host)",
      "security=allowlist (agents.list[1].tools.exec.security): listed programs and safe bins only",
      "ask=always (agents.list[1].tools.exec.ask): asks the owner every time",
      "exec-approvals.json of the gateway host can be stricter, never looser",
      session,
    ],
  });
  const { summary, caution } = describeRoute(config, main, true);
  assert.deepEqual(
    { summary, caution },
    {
      summary: "on the gateway host, under approvals that allow everything",
      caution: {
        text: "Any command runs on the gateway host without approval, unless exec-approvals.json there is stricter.",
        fix: "openclaw config set tools.exec.ask on-miss",
      },
    },
  );
});

test("node: the bound one or the only one; security=deny means nowhere", () => {
  const bound = describeRoute({ tools: { exec: { host: "node", node: "mac-1" } } }, main, false);
  assert.deepEqual(bound, {
    runs: "node",
    summary: "on node mac-1, under approvals",
    rules: [
      "host=node (tools.exec.host)",
      "node mac-1 (tools.exec.node)",
      "security=allowlist (tools.exec.security, not set): listed programs and safe bins only",
      "ask=on-miss (tools.exec.ask, not set): asks the owner about programs that are not listed",
      "exec-approvals.json of the gateway and of the node can be stricter, never looser",
      session,
    ],
  });
  assert.equal(
    describeRoute({ tools: { exec: { host: "node" } } }, main, false).summary,
    "on the only node connected, under approvals",
  );
  assert.equal(
    describeRoute({ tools: { exec: { host: "gateway", security: "deny" } } }, main, false).summary,
    "nowhere: every command is denied",
  );
});
