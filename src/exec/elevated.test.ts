// Every gate between a sandboxed session and the host, one by one.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DEFAULT_AGENT } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { elevationOf, type ElevationFacts } from "./elevated.ts";

const facts = (config: Config, more: Partial<ElevationFacts> = {}): ElevationFacts => ({
  config,
  agent: DEFAULT_AGENT,
  channel: "telegram",
  senders: ["ada"],
  subagent: false,
  execAllowed: true,
  ...more,
});
const listed = (...ids: (string | number)[]): Config => ({ tools: { elevated: { allowFrom: { telegram: ids } } } });
const keys = (config: Config, more: Partial<ElevationFacts> = {}): string[] =>
  elevationOf(facts(config, more)).gates.map(({ key }) => key);

describe("elevation", () => {
  test("allows a listed sender", () => assert.deepEqual(keys(listed("ada")), []));
  test("accepts ids as numbers, with a channel prefix, an at sign or capitals", () => {
    assert.deepEqual(keys(listed(42), { senders: ["42"] }), []);
    assert.deepEqual(keys(listed("telegram:42"), { senders: ["42"] }), []);
    assert.deepEqual(keys(listed("@Ada"), { senders: ["telegram:ada"] }), []);
  });
  test("a star allows every sender, also an unknown one", () =>
    assert.deepEqual(keys(listed("*"), { senders: [] }), []));
  test("without a list denies everyone", () => assert.deepEqual(keys({}), ["tools.elevated.allowFrom.telegram"]));
  test("an empty list denies everyone", () => assert.deepEqual(keys(listed()), ["tools.elevated.allowFrom.telegram"]));
  test("ignores an empty name in the list", () =>
    assert.deepEqual(keys(listed("", "@"), { senders: ["", "@"] }), ["tools.elevated.allowFrom.telegram"]));
  test("does not accept a sender listed for another channel", () =>
    assert.deepEqual(keys(listed("ada"), { channel: "signal" }), ["tools.elevated.allowFrom.signal"]));
  test("treats a message without a channel as webchat", () =>
    assert.deepEqual(keys({}, { channel: undefined }), ["tools.elevated.allowFrom.webchat"]));
  test("tools.elevated.enabled=false denies everyone", () => {
    const config: Config = { tools: { elevated: { enabled: false, allowFrom: { telegram: ["*"] } } } };
    assert.deepEqual(keys(config), ["tools.elevated.enabled"]);
  });
  test("an agent can only restrict further", () => {
    const own = (elevated: object): Config => ({
      ...listed("ada"),
      agents: { list: [{ id: "main", tools: { elevated } }] },
    });
    assert.deepEqual(keys(own({ enabled: false })), ["agents.list[].tools.elevated.enabled"]);
    assert.deepEqual(keys(own({ allowFrom: { telegram: ["bob"] } })), [
      "agents.list[].tools.elevated.allowFrom.telegram",
    ]);
    assert.deepEqual(keys(own({ allowFrom: { telegram: ["ada"] } })), []);
    assert.deepEqual(keys(own({ allowFrom: { telegram: ["bob"] } }), { senders: ["bob"] }), [
      "tools.elevated.allowFrom.telegram",
    ]);
  });
  test("denies when exec is not allowed, with the key of the rule", () =>
    assert.deepEqual(keys(listed("ada"), { execAllowed: false, execKey: "tools.deny[0]" }), ["tools.deny[0]"]));
  test("denies subagents", () => assert.deepEqual(keys(listed("*"), { subagent: true }), ["session"]));
  test("names every closed gate in one error", () => {
    const config: Config = { tools: { elevated: { enabled: false } } };
    assert.deepEqual(keys(config, { subagent: true, execAllowed: false }), [
      "tools.elevated.enabled",
      "tools.elevated.allowFrom.telegram",
      "tools.allow",
      "session",
    ]);
  });
});

describe("elevation on Discord", () => {
  const dm = { discord: { dm: { allowFrom: ["ada"] } } };
  const discord = { channel: "discord" };
  test("uses dm.allowFrom while no list is set", () => assert.deepEqual(keys({ channels: dm }, discord), []));
  test("stops using it once a list is set, even an empty one", () =>
    assert.deepEqual(keys({ channels: dm, tools: { elevated: { allowFrom: { discord: [] } } } }, discord), [
      "tools.elevated.allowFrom.discord",
    ]));
  test("the list of an agent has no fallback", () => {
    const agents = { list: [{ id: "main", tools: { elevated: { allowFrom: { discord: [] } } } }] };
    assert.deepEqual(keys({ channels: dm, agents }, discord), ["agents.list[].tools.elevated.allowFrom.discord"]);
  });
  test("other channels have no fallback", () => {
    const config: Config = { channels: { telegram: { allowFrom: ["ada"] } } };
    assert.deepEqual(keys(config), ["tools.elevated.allowFrom.telegram"]);
  });
});
