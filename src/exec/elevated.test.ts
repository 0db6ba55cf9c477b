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
  test("a listed sender passes", () => assert.deepEqual(keys(listed("ada")), []));
  test("ids may be numbers, have the channel in front, an at sign, or capitals", () => {
    assert.deepEqual(keys(listed(42), { senders: ["42"] }), []);
    assert.deepEqual(keys(listed("telegram:42"), { senders: ["42"] }), []);
    assert.deepEqual(keys(listed("@Ada"), { senders: ["telegram:ada"] }), []);
  });
  test("the star lets anyone through, an unknown sender too", () =>
    assert.deepEqual(keys(listed("*"), { senders: [] }), []));
  test("without a list nobody passes", () => assert.deepEqual(keys({}), ["tools.elevated.allowFrom.telegram"]));
  test("an empty list lets nobody through", () =>
    assert.deepEqual(keys(listed()), ["tools.elevated.allowFrom.telegram"]));
  test("an empty name in the list is nobody", () =>
    assert.deepEqual(keys(listed("", "@"), { senders: ["", "@"] }), ["tools.elevated.allowFrom.telegram"]));
  test("a sender of one channel is not listed by another one's list", () =>
    assert.deepEqual(keys(listed("ada"), { channel: "signal" }), ["tools.elevated.allowFrom.signal"]));
  test("a message from no channel is webchat", () =>
    assert.deepEqual(keys({}, { channel: undefined }), ["tools.elevated.allowFrom.webchat"]));
  test("tools.elevated.enabled false closes it for all", () => {
    const config: Config = { tools: { elevated: { enabled: false, allowFrom: { telegram: ["*"] } } } };
    assert.deepEqual(keys(config), ["tools.elevated.enabled"]);
  });
  test("an agent may only restrict further", () => {
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
  test("a denied exec tool closes it, with the key of the rule", () =>
    assert.deepEqual(keys(listed("ada"), { execAllowed: false, execKey: "tools.deny[0]" }), ["tools.deny[0]"]));
  test("sub-agents never pass", () => assert.deepEqual(keys(listed("*"), { subagent: true }), ["session"]));
  test("every closed gate is named at once", () => {
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
  test("the list of direct writers stands in while there is no list", () =>
    assert.deepEqual(keys({ channels: dm }, discord), []));
  test("a list, even an empty one, ends that", () =>
    assert.deepEqual(keys({ channels: dm, tools: { elevated: { allowFrom: { discord: [] } } } }, discord), [
      "tools.elevated.allowFrom.discord",
    ]));
  test("the list of an agent never falls back", () => {
    const agents = { list: [{ id: "main", tools: { elevated: { allowFrom: { discord: [] } } } }] };
    assert.deepEqual(keys({ channels: dm, agents }, discord), ["agents.list[].tools.elevated.allowFrom.discord"]);
  });
  test("no other channel falls back", () => {
    const config: Config = { channels: { telegram: { allowFrom: ["ada"] } } };
    assert.deepEqual(keys(config), ["tools.elevated.allowFrom.telegram"]);
  });
});
