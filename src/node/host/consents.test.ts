// An approval is valid once, for what existed when it was asked for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { planHash } from "../../exec/policy/freeze.ts";
import type { Plan } from "../../exec/policy/plan.ts";
import { createConsents } from "./consents.ts";

describe("an approval", () => {
  const plan = (command: string): Plan => ({
    command,
    form: "pipeline",
    segments: [],
    cwd: { path: "/", real: "/", device: "1", inode: "2" },
    files: [],
    env: {},
    path: [],
    host: "node",
    agent: "main",
    session: "s",
  });
  test("can be used once", () => {
    const consents = createConsents();
    consents.spend("a");
    assert.throws(() => consents.spend("a"), { code: "node-host.denied" });
    consents.spend("b");
  });
  test("covers what existed when it was asked for", () => {
    const consents = createConsents();
    consents.freeze("r", plan("ls"));
    assert.throws(() => consents.compare("r", plan("rm")), { code: "approval.changed" });
    consents.freeze("r", plan("ls"));
    consents.compare("r", plan("ls"));
    consents.compare("never asked here", plan("ls"));
  });
  test("carries the hash that was taken before the question", () => {
    const consents = createConsents();
    consents.compare("r", plan("ls"), planHash(plan("ls")));
    assert.throws(() => consents.compare("r", plan("rm"), planHash(plan("ls"))), { code: "approval.changed" });
  });
  test("is not changed by a second request with the same id", () => {
    const consents = createConsents();
    consents.freeze("r", plan("ls"));
    consents.freeze("r", plan("rm"));
    assert.throws(() => consents.compare("r", plan("rm")), { code: "approval.changed" });
  });
});
