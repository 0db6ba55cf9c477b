// The next step that a denied command names, for each rule that can deny it.
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Ask, Security } from "../route.ts";
import { analyze } from "./analyze.ts";
import { judge, judgeUnanswerable, type Judgment } from "./decide.ts";
import { denialHint } from "./denial-hint.ts";
import { effectivePolicy } from "./effective.ts";
import { openPolicyFixture } from "./fixture.cases.ts";

const fixture = openPolicyFixture();
after(() => fixture.close());

interface Rules {
  readonly security?: Security;
  readonly ask?: Ask;
  readonly askFallback?: Security;
  readonly inFile?: Security;
  readonly allowed?: string;
  readonly unreachable?: boolean;
}

async function denial(command: string, rules: Rules = {}): Promise<{ judgment: Judgment; hint: string }> {
  const { security = "allowlist", ask = "off", askFallback, inFile, allowed, unreachable } = rules;
  const main = {
    ...(inFile === undefined ? {} : { security: inFile }),
    ...(askFallback === undefined ? {} : { askFallback }),
    allowlist: allowed === undefined ? [] : [{ pattern: allowed }],
  };
  const policy = effectivePolicy({ security, ask }, { version: 1, agents: { main } }, "main");
  const input = { analysis: await analyze(command, fixture.context), policy, safeBins: [] };
  const judgment = unreachable === true ? judgeUnanswerable(input) : judge(input);
  assert.equal(judgment.outcome, "deny");
  return { judgment, hint: denialHint(judgment, input, "main") };
}

const each = "no allowlist entry can allow this; approve it each time: openclaw config set tools.exec.ask on-miss";
const dashboard = "open the dashboard so that you can approve it (openclaw dashboard) and run it again";
const addId = "openclaw approvals allowlist add /usr/bin/id --agent main";

const rows: readonly [title: string, command: string, rules: Rules, code: string, hint: string][] = [
  [
    "security=deny of the config",
    "id",
    { security: "deny" },
    "exec.denied",
    "openclaw config set tools.exec.security allowlist",
  ],
  [
    "security=deny of the approvals file",
    "id",
    { inFile: "deny" },
    "exec.denied",
    "exec-approvals.json agents.main.security decides (see openclaw approvals get --gateway); change it with: openclaw approvals set --gateway --file <file>",
  ],
  ["a program that is not listed", "id", {}, "exec.allowlist-miss", addId],
  [
    "two programs that are not listed",
    "id | uname",
    {},
    "exec.allowlist-miss",
    `${addId} && openclaw approvals allowlist add /usr/bin/uname --agent main`,
  ],
  ["one of two programs can never be listed", "id | xargs echo", {}, "exec.allowlist-miss", each],
  ["a program that starts others", "xargs echo", {}, "exec.carrier", each],
  ["the gateway's own command", "openclaw status", {}, "exec.own-cli", each],
  ["arguments that carry code", "python3 -c 1", { allowed: "/**" }, "exec.arguments", each],
  ["a line that is no plain pipeline", "id; id", {}, "exec.chain", each],
  ["a redirection", "id > file", {}, "exec.redirection", each],
  [
    "approval that cannot reach a person",
    "id",
    { ask: "on-miss", unreachable: true },
    "exec.nobody-to-ask",
    `${dashboard}; or ${addId}`,
  ],
  [
    "ask=always, for which an entry is not enough",
    "id",
    { ask: "always", unreachable: true },
    "exec.nobody-to-ask",
    dashboard,
  ],
  [
    "a chain with askFallback=allowlist",
    "id; id",
    { ask: "on-miss", askFallback: "allowlist", unreachable: true },
    "exec.chain",
    `no allowlist entry can allow this; ${dashboard}`,
  ],
];
for (const [title, command, rules, code, hint] of rows)
  test(`${title}: ${code}`, async () => {
    const found = await denial(command, rules);
    assert.deepEqual({ code: found.judgment.code, hint: found.hint }, { code, hint });
  });

test("quotes the path for a shell and as a literal pattern", async () => {
  const path = join(fixture.workspace, "my *tool");
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  const { hint } = await denial(`'${path}'`);
  assert.equal(hint, `openclaw approvals allowlist add '${fixture.workspace}/my \\*tool' --agent main`);
});
