// Every rule of routing as one row: what goes in, and the route or the refusal that comes out.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";

import { ToolError } from "../core/error.ts";
import { DEFAULT_AGENT } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import type { Elevation } from "./elevated.ts";
import { EXEC_ASK, EXEC_HOST, EXEC_SECURITY, routeExec, type Route, type RouteInput } from "./route.ts";

const open: Elevation = { open: true, gates: [], channel: "telegram" };
const shut: Elevation = {
  open: false,
  gates: [{ key: "tools.elevated.allowFrom.telegram", why: "this sender is not listed" }],
  channel: "telegram",
};

type Exec = NonNullable<NonNullable<Config["tools"]>["exec"]>;

function given(more: Partial<RouteInput> & { readonly global?: Exec; readonly own?: Exec } = {}): RouteInput {
  const { global: shared, own, ...rest } = more;
  return {
    params: {},
    session: {},
    config: {
      ...(shared === undefined ? {} : { tools: { exec: shared } }),
      ...(own === undefined ? {} : { agents: { list: [{ id: "main", tools: { exec: own } }] } }),
    },
    agent: DEFAULT_AGENT,
    sandboxed: false,
    elevation: shut,
    ...rest,
  };
}

const onSandbox: Route = {
  host: "sandbox",
  runsIn: "host",
  security: "deny",
  ask: "on-miss",
  approvals: false,
  elevated: "off",
  warnings: [],
};
const inSandbox: Route = { ...onSandbox, runsIn: "sandbox" };
const onGateway: Route = { ...onSandbox, host: "gateway", security: "allowlist", approvals: true };
const onNode: Route = { ...onGateway, host: "node", runsIn: "node" };

type Row = readonly [title: string, input: Parameters<typeof given>[0], expected: Route];

const routes: readonly Row[] = [
  ["nothing set, not sandboxed: on the host without approvals", {}, onSandbox],
  ["nothing set, sandboxed: in the sandbox without approvals", { sandboxed: true }, inSandbox],
  ["host gateway, not sandboxed: on the host with approvals", { global: { host: "gateway" } }, onGateway],
  ["host gateway, sandboxed: on the host with approvals", { global: { host: "gateway" }, sandboxed: true }, onGateway],
  ["host node: on a node with approvals", { global: { host: "node" } }, onNode],
  ["host node, sandboxed: still on a node", { global: { host: "node" }, sandboxed: true }, onNode],
  ["the agent's host overrides the shared one", { global: { host: "node" }, own: { host: "gateway" } }, onGateway],
  ["the session's host overrides the agent's", { own: { host: "node" }, session: { execHost: "gateway" } }, onGateway],
  [
    "the message's host overrides the session's",
    { session: { execHost: "node" }, once: { host: "gateway" } },
    onGateway,
  ],
  [
    "the call may name the host it gets anyway",
    { global: { host: "gateway" }, params: { host: "gateway" } },
    onGateway,
  ],
  [
    "the agent's security overrides the shared one",
    { global: { host: "gateway", security: "full" }, own: { security: "allowlist" } },
    onGateway,
  ],
  [
    "the session may be looser than the config",
    { global: { host: "gateway", security: "deny", ask: "always" }, session: { execSecurity: "full", execAsk: "off" } },
    { ...onGateway, security: "full", ask: "off" },
  ],
  [
    "the message may be looser than the session",
    { global: { host: "gateway" }, session: { execAsk: "always" }, once: { security: "full", ask: "off" } },
    { ...onGateway, security: "full", ask: "off" },
  ],
  [
    "the call may be stricter",
    { global: { host: "gateway", security: "full", ask: "off" }, params: { security: "allowlist", ask: "always" } },
    { ...onGateway, ask: "always" },
  ],
  [
    "the call cannot be looser",
    { global: { host: "gateway", ask: "always" }, params: { security: "full", ask: "off" } },
    { ...onGateway, ask: "always" },
  ],
  [
    "full and off still consult the approvals file",
    { global: { host: "gateway", security: "full", ask: "off" } },
    {
      ...onGateway,
      security: "full",
      ask: "off",
    },
  ],
  [
    "security and ask are ignored on host=sandbox with a warning",
    { params: { security: "deny" } },
    {
      ...onSandbox,
      warnings: ["security and ask were ignored: they apply only to host=gateway and host=node."],
    },
  ],
  ["security=deny in the config does not close host=sandbox", { global: { security: "deny" } }, onSandbox],
  ["a bound node", { global: { host: "node", node: "lab" } }, { ...onNode, node: "lab", boundNode: "lab" }],
  [
    "the agent's node overrides the shared one, and the session's overrides both",
    { global: { host: "node", node: "a" }, own: { node: "b" }, session: { execNode: "c" } },
    { ...onNode, node: "c", boundNode: "c" },
  ],
  [
    "the call names a node; whether it is the bound one is checked later",
    { global: { host: "node", node: "lab" }, params: { node: "other" } },
    { ...onNode, node: "other", boundNode: "lab" },
  ],
  [
    "the call names a node, none is bound",
    { global: { host: "node" }, params: { node: "other" } },
    {
      ...onNode,
      node: "other",
    },
  ],
  [
    "node is ignored on another host",
    { global: { node: "lab" }, params: { node: "lab" } },
    {
      ...onSandbox,
      warnings: ["node was ignored: the command runs on host=sandbox."],
    },
  ],
  [
    "elevated is ignored when not sandboxed",
    { params: { elevated: true }, elevation: open },
    {
      ...onSandbox,
      warnings: ["elevated was ignored: this session is not sandboxed, so commands already run on the host."],
    },
  ],
  [
    "elevated is ignored without naming gates",
    { params: { elevated: true } },
    {
      ...onSandbox,
      warnings: ["elevated was ignored: this session is not sandboxed, so commands already run on the host."],
    },
  ],
  [
    "level full has no effect when not sandboxed",
    {
      global: { host: "gateway" },
      session: { elevatedLevel: "full" },
      elevation: open,
    },
    onGateway,
  ],
  ["open gates alone do not elevate", { sandboxed: true, elevation: open }, inSandbox],
  [
    "an elevated call runs on the host with approvals",
    { sandboxed: true, elevation: open, params: { elevated: true } },
    {
      ...onGateway,
      elevated: "on",
    },
  ],
  [
    "an elevated call can name host=gateway",
    { sandboxed: true, elevation: open, params: { elevated: true, host: "gateway" } },
    { ...onGateway, elevated: "on" },
  ],
  [
    "elevated goes to the gateway whatever host is configured",
    { sandboxed: true, elevation: open, params: { elevated: true }, global: { host: "node", node: "lab" } },
    { ...onGateway, elevated: "on" },
  ],
  [
    "level on: every call",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "on" } },
    {
      ...onGateway,
      elevated: "on",
    },
  ],
  [
    "level ask is level on",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "ask" } },
    {
      ...onGateway,
      elevated: "on",
    },
  ],
  [
    "level on keeps the configured rules",
    {
      sandboxed: true,
      elevation: open,
      session: { elevatedLevel: "on" },
      global: { security: "allowlist", ask: "always" },
    },
    { ...onGateway, ask: "always", elevated: "on" },
  ],
  [
    "level full: no approvals",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "full" } },
    {
      ...onGateway,
      security: "full",
      ask: "off",
      approvals: false,
      elevated: "full",
    },
  ],
  [
    "an elevated call under level full runs without approvals",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "full" }, params: { elevated: true } },
    { ...onGateway, security: "full", ask: "off", approvals: false, elevated: "full" },
  ],
  [
    "a stricter call under level full needs approvals again",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "full" }, params: { ask: "always" } },
    { ...onGateway, security: "full", ask: "always", elevated: "full" },
  ],
  [
    "the message's level overrides the session's",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "off" }, once: { elevated: "on" } },
    { ...onGateway, elevated: "on" },
  ],
  [
    "the default level applies where no other is set",
    { sandboxed: true, elevation: open, config: { agents: { defaults: { elevatedDefault: "full" } } } },
    { ...onGateway, security: "full", ask: "off", approvals: false, elevated: "full" },
  ],
  [
    "a call may stay inside",
    { sandboxed: true, elevation: open, session: { elevatedLevel: "full" }, params: { elevated: false } },
    inSandbox,
  ],
  [
    "a level set by an allowed sender does not apply to another sender",
    { sandboxed: true, session: { elevatedLevel: "on" } },
    {
      ...inSandbox,
      warnings: [
        "Elevated is on in this session, but this sender may not use it (tools.elevated.allowFrom.telegram): the command ran in the sandbox.",
      ],
    },
  ],
];

describe("routes", () => {
  for (const [title, input, expected] of routes) test(title, () => assert.deepEqual(routeExec(given(input)), expected));
});

type Refusal = readonly [
  title: string,
  input: Parameters<typeof given>[0],
  code: string,
  words: readonly string[],
  details: Record<string, unknown>,
];

const refusals: readonly Refusal[] = [
  [
    "a call cannot choose another host",
    { params: { host: "gateway" } },
    "exec.host-mismatch",
    ["host=gateway", "host=sandbox", "tools.exec.host"],
    { refused: true, requested: "gateway", configured: "sandbox", key: "tools.exec.host" },
  ],
  [
    "a call cannot leave a stricter host for a disabled sandbox",
    { global: { host: "gateway" }, params: { host: "sandbox" } },
    "exec.host-mismatch",
    ["host=sandbox", "host=gateway"],
    { refused: true, requested: "sandbox", configured: "gateway", key: "tools.exec.host" },
  ],
  [
    "names the agent's key when the agent sets it",
    { own: { host: "node" }, params: { host: "gateway" } },
    "exec.host-mismatch",
    ["agents.list[].tools.exec.host"],
    { refused: true, requested: "gateway", configured: "node", key: "agents.list[].tools.exec.host" },
  ],
  [
    "names /exec when the session sets it",
    { session: { execHost: "node" }, params: { host: "gateway" } },
    "exec.host-mismatch",
    ["/exec host"],
    { refused: true, requested: "gateway", configured: "node", key: "/exec host" },
  ],
  [
    "elevated opens no host where it is ignored",
    { params: { host: "gateway", elevated: true }, elevation: open },
    "exec.host-mismatch",
    ["host=gateway"],
    { refused: true, requested: "gateway", configured: "sandbox", key: "tools.exec.host" },
  ],
  [
    "elevated does not reach a node",
    { sandboxed: true, params: { host: "node", elevated: true }, elevation: open },
    "exec.host-mismatch",
    ["host=node"],
    { refused: true, requested: "node", configured: "sandbox", key: "tools.exec.host" },
  ],
  [
    "security deny on the gateway",
    { global: { host: "gateway", security: "deny" } },
    "exec.denied",
    ["host=gateway", "security=deny"],
    { refused: true, host: "gateway", security: "deny" },
  ],
  [
    "security deny on a node",
    { global: { host: "node", security: "deny" } },
    "exec.denied",
    ["host=node", "security=deny"],
    { refused: true, host: "node", security: "deny" },
  ],
  [
    "a call that denies itself",
    { global: { host: "gateway", security: "full" }, params: { security: "deny" } },
    "exec.denied",
    ["security=deny"],
    { refused: true, host: "gateway", security: "deny" },
  ],
  [
    "an elevated call meets the configured deny",
    { sandboxed: true, elevation: open, params: { elevated: true }, global: { security: "deny" } },
    "exec.denied",
    ["host=gateway"],
    { refused: true, host: "gateway", security: "deny" },
  ],
  [
    "elevated with a closed gate names the gate, the keys and the channel",
    { sandboxed: true, params: { elevated: true }, sessionKey: "agent:main:telegram:direct:1" },
    "exec.elevated-unavailable",
    [
      "runtime: sandboxed",
      "- tools.elevated.allowFrom.telegram: this sender is not listed",
      "tools.elevated.enabled",
      "agents.list[].tools.elevated.enabled",
      "agents.list[].tools.elevated.allowFrom.telegram",
      "agent:main:telegram:direct:1",
    ],
    {
      refused: true,
      runtime: "sandboxed",
      channel: "telegram",
      gates: shut.gates,
      sessionKey: "agent:main:telegram:direct:1",
    },
  ],
  [
    "a subagent is refused",
    {
      sandboxed: true,
      params: { elevated: true },
      elevation: { open: false, channel: "webchat", gates: [{ key: "session", why: "subagents are never elevated" }] },
    },
    "exec.elevated-unavailable",
    ["subagents are never elevated"],
    {
      refused: true,
      runtime: "sandboxed",
      channel: "webchat",
      gates: [{ key: "session", why: "subagents are never elevated" }],
    },
  ],
  [
    "level off of the session refuses the call",
    { sandboxed: true, elevation: open, params: { elevated: true }, session: { elevatedLevel: "off" } },
    "exec.elevated-unavailable",
    ["turned off for this session"],
    { refused: true, runtime: "sandboxed", gates: [] },
  ],
  [
    "level off of the config refuses the call",
    {
      sandboxed: true,
      elevation: open,
      params: { elevated: true },
      config: { agents: { defaults: { elevatedDefault: "off" } } },
    },
    "exec.elevated-unavailable",
    ["agents.defaults.elevatedDefault"],
    { refused: true, runtime: "sandboxed", gates: [] },
  ],
  [
    "rejects a machine name as host",
    { params: { host: "evil.example.com" } },
    "exec.bad-value",
    ["sandbox, gateway, node"],
    { refused: true },
  ],
  [
    "rejects an unknown security",
    { params: { security: "none" } },
    "exec.bad-value",
    ["deny, allowlist, full"],
    { refused: true },
  ],
  [
    "rejects an unknown ask",
    { params: { ask: "never" } },
    "exec.bad-value",
    ["off, on-miss, always"],
    { refused: true },
  ],
  [
    "rejects an unknown value of the session",
    { session: { execHost: "moon" } },
    "exec.bad-value",
    ["sandbox, gateway, node"],
    { refused: true },
  ],
];

describe("refused routes", () => {
  for (const [title, input, code, words, details] of refusals) {
    test(title, () => {
      const error = refusalOf(given(input));
      assert.equal(error.code, code);
      assert.deepEqual(error.details, details);
      assert.notEqual(error.hint ?? "", "");
      for (const word of words) assert.ok(error.message.includes(word), `${word} in: ${error.message}`);
    });
  }
});

function refusalOf(input: RouteInput): ToolError {
  try {
    routeExec(input);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  return assert.fail("it was not refused");
}

const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined });
const levels = ["off", "on", "ask", "full"] as const;

const operatorSide = fc.record({
  session: fc.record({
    execHost: maybe(EXEC_HOST),
    execSecurity: maybe(EXEC_SECURITY),
    execAsk: maybe(EXEC_ASK),
    execNode: maybe(["a", "b"]),
    elevatedLevel: maybe(levels),
  }),
  once: fc.option(
    fc.record({
      host: maybe(EXEC_HOST),
      security: maybe(EXEC_SECURITY),
      ask: maybe(EXEC_ASK),
      elevated: maybe(levels),
    }),
    { nil: undefined },
  ),
  global: fc.record({ host: maybe(EXEC_HOST), security: maybe(EXEC_SECURITY), ask: maybe(EXEC_ASK) }),
  own: fc.record({ host: maybe(EXEC_HOST), security: maybe(EXEC_SECURITY), ask: maybe(EXEC_ASK) }),
  sandboxed: fc.boolean(),
  elevation: fc.constantFrom(open, shut),
});
const modelSide = fc.record({
  host: maybe(EXEC_HOST),
  security: maybe(EXEC_SECURITY),
  ask: maybe(EXEC_ASK),
  node: maybe(["a", "b", ""]),
  elevated: maybe([true, false]),
});

function attempt(input: RouteInput): Route | undefined {
  try {
    return routeExec(input);
  } catch (error) {
    assert.ok(error instanceof ToolError);
    return undefined;
  }
}

test("no parameters make a route looser than session and config alone", () => {
  fc.assert(
    fc.property(operatorSide, modelSide, ({ global: shared, own, ...rest }, params) => {
      const compact = (rules: object): Exec =>
        Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined)) as Exec;
      const input = given({ ...rest, global: compact(shared), own: compact(own) });
      const chosen = attempt({ ...input, params });
      if (chosen === undefined) return; // a refusal is the strictest result
      // The route of an elevated sender who asked for it, which is the most that a call can request.
      const leaves = chosen.elevated !== "off";
      const plain = attempt({ ...input, params: { elevated: leaves ? true : false } });
      assert.ok(plain !== undefined, "the same call without options would have been refused");
      assert.equal(chosen.host, plain.host);
      assert.equal(chosen.runsIn, plain.runsIn);
      assert.equal(chosen.elevated, plain.elevated);
      assert.equal(chosen.boundNode, plain.boundNode);
      assert.ok(EXEC_SECURITY.indexOf(chosen.security) <= EXEC_SECURITY.indexOf(plain.security));
      assert.ok(EXEC_ASK.indexOf(chosen.ask) >= EXEC_ASK.indexOf(plain.ask));
      assert.ok(chosen.approvals || !plain.approvals);
      if (!leaves) return;
      assert.ok(input.sandboxed && input.elevation.open);
      const level = input.once?.elevated ?? input.session.elevatedLevel;
      assert.notEqual(level, "off");
      assert.equal(chosen.elevated, level === "full" ? "full" : "on");
    }),
    { numRuns: 5000 },
  );
});
