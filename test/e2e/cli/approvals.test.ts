// `openclaw approvals …`: the file on this machine, the gateway's through the gateway, and answering what waits.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import {
  dispose,
  operator,
  readJson,
  startGateway,
  type Ran,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { scriptedNode } from "../../harness/node.ts";

interface Shown {
  readonly exists: boolean;
  readonly hash: string;
  readonly file: {
    readonly socket?: object;
    readonly agents: Record<
      string,
      { readonly allowlist?: readonly { readonly id: string; readonly pattern: string }[] }
    >;
  };
}

const shown = (ran: Ran): Shown => JSON.parse(wellEnded(ran)) as Shown;
const patternsOf = ({ file }: Shown, agent: string): string[] =>
  (file.agents[agent]?.allowlist ?? []).map(({ pattern }) => pattern);

describe("on this machine", () => {
  let cli: Cli;
  before(() => {
    cli = newCli("{}");
  });
  after(() => cli.dispose());

  test("patterns are added once, for all agents or one, and can be removed", async () => {
    const first = shown(await cli.run("approvals", "allowlist", "add", "/usr/bin/rg", "--json"));
    assert.deepEqual(patternsOf(first, "*"), ["/usr/bin/rg"]);
    assert.match(first.file.agents["*"]?.allowlist?.[0]?.id ?? "", /^[0-9a-f-]{36}$/);
    await cli.run("approvals", "allowlist", "add", "~/bin/*", "--agent", "main");
    const again = await cli.run("approvals", "allowlist", "add", "/USR/bin/rg", "--json");
    assert.match(again.stderr, /is already on the list/);
    assert.deepEqual([patternsOf(shown(again), "*"), patternsOf(shown(again), "main")], [["/usr/bin/rg"], ["~/bin/*"]]);
    const file = join(cli.state, "exec-approvals.json");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { socket } = JSON.parse(readFileSync(file, "utf8")) as { socket: { token: string } };
    assert.ok(socket.token.length >= 32);
    assert.ok(!again.stdout.includes(socket.token), "the token is not printed");

    const text = wellEnded(await cli.run("approvals"));
    assert.match(text, /^Agent main\n.*\n +Allowed +~\/bin\/\*$/m);
    const none = await cli.run("approvals", "allowlist", "remove", "/usr/bin/rg", "--agent", "main");
    assert.deepEqual([none.code, /is not on the list of agent main/.test(none.stderr)], [1, true]);
    const gone = shown(await cli.run("approvals", "allowlist", "remove", "/usr/bin/rg", "--json"));
    assert.deepEqual([patternsOf(gone, "*"), patternsOf(gone, "main")], [[], ["~/bin/*"]]);
    assert.equal((JSON.parse(readFileSync(file, "utf8")) as { socket: { token: string } }).socket.token, socket.token);
  });

  test("refuses a pattern that could never match, with the reason", async () => {
    const before = wellEnded(await cli.run("approvals", "get", "--json"));
    for (const [pattern, why] of [
      ["rg", /has no slash: patterns match the whole path of a program/],
      ["*", /has no slash/],
      ["bin/rg", /does not start with/],
      ["./rg", /does not start with/],
      ["/usr/../bin/rg", /contains \. or \.\. as a folder/],
      ["/usr/bin/rg ", /whitespace at an end/],
      ["/usr/bin/r\u200bg", /invisible characters/],
    ] as const) {
      const ran = await cli.run("approvals", "allowlist", "add", pattern);
      assert.deepEqual([ran.code, why.test(ran.stderr), /\/usr\/bin\/rg/.test(ran.stderr)], [1, true, true], pattern);
    }
    assert.equal(wellEnded(await cli.run("approvals", "get", "--json")), before);
    const all = await cli.run("approvals", "allowlist", "add", "/**", "--agent", "wild");
    assert.match(all.stderr, /matches every program/);
  });

  test("set validates and replaces the whole file, and names patterns without effect", async () => {
    const rules = join(cli.home, "rules.json5");
    writeFileSync(
      rules,
      "{ version: 1, defaults: { security: 'deny' }, agents: { main: { allowlist: [{ pattern: 'rg' }] } } }",
    );
    const ran = await cli.run("approvals", "set", "--file", rules, "--json");
    assert.match(ran.stderr, /agent main: pattern "rg" has no slash/);
    const { file } = shown(ran);
    assert.deepEqual([Object.keys(file.agents), patternsOf(shown(ran), "main")], [["main"], ["rg"]]);
    for (const [text, why] of [
      ["{ version: 2 }", /approvals|version/],
      ["{ version: 1, agents: { main: { allowlist: ['x', 3] } } }", /allowlist/],
      ["{ version: 1", /is not JSON/],
    ] as const) {
      writeFileSync(rules, text);
      const refused = await cli.run("approvals", "set", "--file", rules);
      assert.deepEqual([refused.code, why.test(refused.stderr)], [1, true], `${text}\n${refused.stderr}`);
    }
    assert.equal((await cli.run("approvals", "set", "--file", join(cli.home, "nowhere"))).code, 1);
    assert.equal((await cli.run("approvals", "set")).code, 2);
    assert.deepEqual(shown(await cli.run("approvals", "get", "--json")).file, file, "nothing of it was taken over");
  });

  test("add and remove keep unknown content of the file, and get says that it has no effect", async () => {
    const rules = join(cli.home, "others.json");
    const agents = {
      "*": { note: "ours", allowlist: ["/usr/bin/uname", { pattern: "/usr/bin/id", comment: "mine" }] },
    };
    writeFileSync(rules, JSON.stringify({ version: 1, companion: { theme: "dark" }, agents }));
    wellEnded(await cli.run("approvals", "set", "--file", rules));
    wellEnded(await cli.run("approvals", "allowlist", "add", "/usr/bin/wc"));
    wellEnded(await cli.run("approvals", "allowlist", "remove", "/usr/bin/wc"));
    const { companion, agents: after } = readJson(join(cli.state, "exec-approvals.json")) as Record<
      string,
      typeof agents
    >;
    const kept = after?.["*"];
    assert.deepEqual(
      [companion, kept?.note, kept?.allowlist.map((entry) => ({ ...(entry as object), id: "" }))],
      [
        { theme: "dark" },
        "ours",
        [
          { pattern: "/usr/bin/uname", id: "" },
          { pattern: "/usr/bin/id", comment: "mine", id: "" },
        ],
      ],
    );
    const said = wellEnded(await cli.run("approvals", "get"));
    assert.match(said, /Unknown[^]*companion[^]*agents\.\*\.note[^]*allowlist\[1\]\.comment[^]*kept, without effect/);
  });

  test("refuses two targets in one command; needs a gateway to answer approvals", async () => {
    const two = await cli.run("approvals", "get", "--gateway", "--node", "x");
    assert.equal(two.code, 2);
    const alone = await cli.run("approvals", "pending");
    assert.deepEqual([alone.code, /gateway/.test(alone.stderr)], [1, true]);
  });
});

describe("through the gateway", () => {
  let gateway: TestGateway;
  let cli: Cli;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway();
    cli = newCli(undefined, gateway.home);
    wire = await operator(gateway);
  });
  after(() => dispose(gateway));

  test("changes the gateway's file only with its current hash", async () => {
    const added = shown(
      await cli.run("approvals", "allowlist", "add", "--gateway", "--agent", "main", "/usr/bin/uptime", "--json"),
    );
    assert.deepEqual(patternsOf(added, "main"), ["/usr/bin/uptime"]);
    assert.deepEqual(shown(await cli.run("approvals", "get", "--gateway", "--json")), added);
    const rules = join(cli.home, "rules.json");
    writeFileSync(rules, JSON.stringify({ version: 1, agents: {} }));
    const set = shown(await cli.run("approvals", "set", "--gateway", "--file", rules, "--json"));
    assert.deepEqual(set.file.agents, {});
    const empty = await cli.run("approvals", "allowlist", "remove", "--gateway", "--agent", "main", "/usr/bin/uptime");
    assert.equal(empty.code, 1);
  });

  test("shows pending approvals whole; the first answer counts", async () => {
    assert.match(wellEnded(await cli.run("approvals", "pending")), /^No pending approvals\./);
    const answer = wire.request("exec.approval.request", {
      command: "make \u202eclean\nand more",
      cwd: "/ws",
      agentId: "main",
      id: "abcdef01-2345",
    });
    await untilWaiting();
    const text = wellEnded(await cli.run("approvals", "pending"));
    assert.match(text, /^abcdef01-2345 {2}Run a command, expires in (?:\d+ s|[12] min)$/m);
    assert.match(text, /^ {2}make \\u\{202e\}clean\n {2}and more$/m);
    assert.match(text, /^ {2}folder +\/ws$/m);
    assert.match(text, /openclaw approvals resolve abcdef01 allow-once\|deny/);
    assert.equal((await cli.run("approvals", "resolve", "abcdef01", "sure")).code, 2);
    assert.match(wellEnded(await cli.run("approvals", "resolve", "abcdef01", "allow-once")), /abcdef01: allow-once/);
    assert.equal(((await answer).payload as { decision: string }).decision, "allow-once");
    const second = await cli.run("approvals", "resolve", "abcdef01", "deny");
    assert.deepEqual([second.code, /unknown approval id/.test(second.stderr)], [1, true]);
    const listed = JSON.parse(wellEnded(await cli.run("approvals", "pending", "--recent", "5", "--json"))) as {
      pending: unknown[];
      recent: { id: string; state: string }[];
    };
    assert.deepEqual(
      [listed.pending, listed.recent.map(({ id, state }) => [id, state])],
      [[], [["abcdef01-2345", "allowed"]]],
    );
  });

  test("lists decided approvals with who decided", async () => {
    const answer = wire.request("exec.approval.request", { command: "uptime", id: "fedcba98-1" });
    await untilWaiting();
    wellEnded(await cli.run("approvals", "resolve", "fedcba98-1", "deny"));
    await answer;
    assert.match(wellEnded(await cli.run("approvals", "pending", "--recent", "5")), /fedcba98 +deny +cli +.*uptime/);
  });

  async function untilWaiting(): Promise<void> {
    for (;;) {
      const payload = await wire.call("exec.approvals.pending", {});
      if (payload.pending.length === 1) return;
      await sleep(10);
    }
  }

  test("reads and changes a node's file through the gateway, with the node named", async () => {
    const node = await scriptedNode(gateway, { name: "Work Shop" });
    let file: unknown = { version: 1, agents: {} };
    const sets: unknown[] = [];
    node.script(({ command, params }) => {
      if (command === "system.execApprovals.set") {
        sets.push(params?.["baseHash"]);
        file = params?.["file"];
      }
      return { payload: { path: "/node/exec-approvals.json", exists: true, hash: "h1", file } };
    });
    const before = shown(await cli.run("approvals", "get", "--node", "work-shop", "--json"));
    assert.deepEqual([before.hash, before.file.agents], ["h1", {}]);
    const args = ["--node", node.id.slice(0, 8), "--agent", "main", "/usr/bin/uname", "--json"];
    const after = shown(await cli.run("approvals", "allowlist", "add", ...args));
    assert.deepEqual([patternsOf(after, "main"), sets], [["/usr/bin/uname"], ["h1"]]);
    node.end();
  });

  test("reports an unknown node by name", async () => {
    const ran = await cli.run("approvals", "get", "--node", "workshop");
    assert.deepEqual([ran.code, /workshop/.test(ran.stderr)], [1, true]);
  });
});
