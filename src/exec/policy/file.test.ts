// The approvals file: unknown keys are kept, misspelled rules are rejected, older spellings keep their effect.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";

import { effectivePolicy } from "./effective.ts";
import { approvalsPath, readApprovals, withoutToken, writeApprovals } from "./file.ts";

let state: string;
before(() => {
  state = mkdtempSync(join(tmpdir(), "openclaw-approvals-"));
});
after(() => rmSync(state, { recursive: true }));
beforeEach(() => rmSync(approvalsPath(state), { force: true }));

const put = (file: unknown): void => writeFileSync(approvalsPath(state), JSON.stringify(file), { mode: 0o600 });
const raw = (): unknown => JSON.parse(readFileSync(approvalsPath(state), "utf8"));

const foreign = {
  version: 1,
  companion: { theme: "dark" },
  socket: { path: "/run/own.sock", token: "keep-me", mode: "0600" },
  defaults: { ask: "on-miss", color: "blue" },
  agents: {
    "*": {
      note: "for all",
      allowlist: [{ id: "5f0d5f0d", pattern: "/usr/bin/uname", comment: "harmless", source: "import" }],
    },
  },
};

describe("unknown keys", () => {
  test("have no effect on the rules, and a write keeps them in place", () => {
    put(foreign);
    const { file, hash } = readApprovals(state);
    assert.deepEqual(
      effectivePolicy({}, file, "main").allowlist.map(({ pattern }) => pattern),
      ["/usr/bin/uname"],
    );
    writeApprovals(state, file, hash);
    assert.deepEqual(raw(), foreign);
  });

  test("are kept when a client sends back the file without the token", () => {
    put(foreign);
    const shown = withoutToken(readApprovals(state));
    assert.deepEqual(shown.file.socket, { path: "/run/own.sock", mode: "0600" });
    writeApprovals(state, { ...shown.file, defaults: { ...shown.file.defaults, ask: "always" } }, shown.hash);
    assert.deepEqual(raw(), { ...foreign, defaults: { ask: "always", color: "blue" } });
  });

  const misspelt: readonly (readonly [path: string, meant: string, file: object])[] = [
    ["defaults.Security", "security", { defaults: { Security: "deny" } }],
    ["agents.main.securty", "security", { agents: { main: { securty: "deny" } } }],
    ["agents.main.ask_fallback", "askFallback", { agents: { main: { ask_fallback: "deny" } } }],
    [
      "agents.main.allowlist[0].argpattern",
      "argPattern",
      { agents: { main: { allowlist: [{ pattern: "/usr/bin/git", argpattern: "^status$" }] } } },
    ],
    ["Defaults", "defaults", { Defaults: { security: "deny" } }],
  ];
  for (const [path, meant, file] of misspelt)
    test(`${path} is rejected as a misspelled rule`, () => {
      put({ version: 1, ...file });
      const why = new RegExp(`${path.replace(/[[\].]/g, String.raw`\$&`)} is not a known rule; did you mean ${meant}`);
      assert.throws(() => readApprovals(state), { code: "approvals.unreadable", message: why });
      rmSync(approvalsPath(state));
      assert.throws(() => writeApprovals(state, { version: 1, ...file }, undefined), { message: why });
    });
});

describe("agents.default beside agents.main", () => {
  const policy = (agents: object) => {
    put({ version: 1, agents });
    const { security, ask, allowlist } = effectivePolicy({}, readApprovals(state).file, "main");
    return { security, ask, patterns: allowlist.map(({ pattern }) => pattern) };
  };
  test("a rule set only in the older spelling still applies; main overrides it where both are set", () => {
    assert.deepEqual(
      policy({
        default: { security: "deny", ask: "off", allowlist: ["/usr/bin/id"] },
        main: { ask: "always", allowlist: [{ pattern: "/usr/bin/uname" }] },
      }),
      { security: "deny", ask: "always", patterns: ["/usr/bin/uname", "/usr/bin/id"] },
    );
  });
  test("alone, it applies to main", () => {
    assert.deepEqual(policy({ default: { security: "full", allowlist: ["/usr/bin/id"] } }), {
      security: "full",
      ask: "on-miss",
      patterns: ["/usr/bin/id"],
    });
  });
});
