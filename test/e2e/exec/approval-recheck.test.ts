// An approval that is answered after the rules changed is judged by the rules in force, through the front door.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import fc from "fast-check";

import { call, exec, linesOf, until, writeApprovals } from "../../harness/exec.ts";
import {
  dispose,
  invoke,
  openclaw,
  operator,
  startGateway,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { ranFine, scriptedNode, type Asked, type NodeReply } from "../../harness/node.ts";
import { configFile } from "../../harness/restart.ts";
import type { PendingApprovals } from "../../../src/protocol/methods/approvals.ts";

type Json = Record<string, unknown>;

/** Config parts that are put in force and taken back; the tool that is denied with them shows when they are. */
async function putInForce(gateway: TestGateway, base: Json, change: Json): Promise<void> {
  const text = JSON.parse(readFileSync(configFile(gateway), "utf8")) as Json & { marks?: number };
  const wasOff = (await invoke(gateway, "agents_list", {}, asMarker)).status === 404;
  const next = merged(merged(base, change), {
    agents: { list: { marker: { id: "marker", tools: { deny: wasOff ? ["session_status"] : ["agents_list"] } } } },
  });
  writeFileSync(configFile(gateway), JSON.stringify({ ...listed(next), gateway: text["gateway"] }, null, 2));
  await until(
    async () => (await invoke(gateway, "agents_list", {}, asMarker)).status === 404,
    (isOff) => isOff === !wasOff,
  );
}

const asMarker = { body: { sessionKey: "agent:marker:main" } };

function merged(one: Json, other: Json): Json {
  const isPart = (value: unknown): value is Json =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const parts = Object.entries(other).map(([key, value]) => {
    const before = one[key];
    return [key, isPart(value) && isPart(before) ? merged(before, value) : value];
  });
  return { ...one, ...(Object.fromEntries(parts) as Json) };
}

/** Agents are kept by name here, so that a change can name one; null removes it. */
function listed(config: Json): Json {
  const { list, ...agents } = config["agents"] as { list: Record<string, Json | null> };
  return { ...config, agents: { ...agents, list: Object.values(list).filter((agent) => agent !== null) } };
}

const base: Json = {
  tools: { exec: { host: "gateway", security: "allowlist", ask: "on-miss" } },
  agents: { list: { main: { id: "main", default: true }, ops: { id: "ops" }, marker: { id: "marker" } } },
};

const agentPart = (part: Json): Json => ({ agents: { list: { ops: { id: "ops", ...part } } } });

/** Rule changes; `refused` says whether a call of agent ops is refused or runs elsewhere under them. */
interface Change {
  readonly config?: Json;
  readonly approvals?: Json;
  readonly refused: RegExp | false;
}
const changes: Readonly<Record<string, Change>> = {
  "the tool is denied for all": { config: { tools: { deny: ["exec"] } }, refused: /exec/ },
  "the tool is denied for the agent": { config: agentPart({ tools: { deny: ["group:runtime"] } }), refused: /exec/ },
  "the agent may use other tools only": { config: agentPart({ tools: { allow: ["read"] } }), refused: /exec/ },
  "security is deny": { config: { tools: { exec: { security: "deny" } } }, refused: /security=deny/ },
  "security of the agent is deny": {
    config: agentPart({ tools: { exec: { security: "deny" } } }),
    refused: /security=deny/,
  },
  "a miss is no longer asked about": { config: { tools: { exec: { ask: "off" } } }, refused: /not on the allowlist/ },
  "the approvals file denies all": { approvals: { defaults: { security: "deny" } }, refused: /exec-approvals\.json/ },
  "the approvals file denies the agent": {
    approvals: { agents: { ops: { security: "deny" } } },
    refused: /exec-approvals\.json/,
  },
  "commands go to a node": { config: { tools: { exec: { host: "node" } } }, refused: /node/ },
  "the agent is sandboxed": {
    config: merged({ tools: { exec: { host: "sandbox" } } }, agentPart({ sandbox: { mode: "all" } })),
    refused: /sandbox/,
  },
  "the agent is removed": { config: { agents: { list: { ops: null } } }, refused: /no agent "ops"/ },
  "the agent has another workspace": {
    config: agentPart({ workspace: "~/elsewhere" }),
    refused: /changed after it was allowed/,
  },
  "the program is listed": {
    approvals: { agents: { ops: { allowlist: [{ pattern: "/usr/bin/touch" }] } } },
    refused: false,
  },
  "everything may run": { config: { tools: { exec: { security: "full", ask: "off" } } }, refused: false },
  "everything is asked about": { config: { tools: { exec: { ask: "always" } } }, refused: false },
  "another agent is denied": { approvals: { agents: { main: { security: "deny" } } }, refused: false },
  "another tool is denied": { config: { tools: { deny: ["cron"] } }, refused: false },
};

describe("a pending approval answered after the rules changed", () => {
  let gateway: TestGateway;
  let wire: Wire;
  let made = 0;
  const asOps = { body: { sessionKey: "agent:ops:main" } };
  before(async () => {
    gateway = await startGateway({ config: { ...listed(base), gateway: { reload: { debounceMs: 20 } } } });
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  const apply = async ({ config = {}, approvals = {} }: Partial<Change>): Promise<void> => {
    writeApprovals(gateway.state, approvals);
    await putInForce(gateway, base, config);
  };
  const askFor = async (canary: string): Promise<string> => {
    const { details, text } = await exec(gateway, { command: `touch ${canary}` }, asOps);
    assert.equal(details["status"], "approval-pending", text);
    return String(details["approvalId"]);
  };
  const newCanary = (): string => join(gateway.home, `canary-${made++}`);
  const lineAbout = async (id: string): Promise<string> =>
    (
      await until(
        () => linesOf(wire, "agent:ops:main"),
        (found) => found.some((line) => line.includes(id)),
      )
    ).find((line) => line.includes(id)) ?? "";
  const trailOf = async (id: string): Promise<NonNullable<PendingApprovals["recent"]>[number] | undefined> =>
    (await wire.call("exec.approvals.pending", { recent: 50 })).recent?.find((row) => row.id === id);

  for (const [name, change] of Object.entries(changes))
    test(`${change.refused === false ? "runs" : "does not run"} when ${name}`, async () => {
      await apply({});
      const canary = newCanary();
      const id = await askFor(canary);
      await apply(change);
      const answer = await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
      assert.equal(answer.ok, true, JSON.stringify(answer.error));
      if (change.refused === false) {
        await until(() => existsSync(canary), Boolean);
        return;
      }
      const { decision, reason } = answer.payload as { decision: string; reason: string };
      assert.equal(decision, "deny");
      assert.match(reason, change.refused, "the person who answered reads why");
      assert.equal((await trailOf(id))?.["state"], "denied");
      await apply({});
      assert.match(await lineAbout(id), /^Exec denied \(gateway id=/, "so does the model");
      assert.equal(existsSync(canary), false);
    });

  test("never runs what a new call would be denied, in any order of changes", async () => {
    const names = Object.keys(changes);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }),
        fc.constantFrom("allow-once", "allow-always"),
        async (picked, decision) => {
          await apply({});
          const canary = newCanary();
          const id = await askFor(canary);
          const parts = picked.flatMap((name) => changes[name] ?? []);
          const both = parts.reduce<Json>((sum, { config = {} }) => merged(sum, config), {});
          await apply({
            config: both,
            approvals: parts.reduce<Json>((sum, { approvals = {} }) => merged(sum, approvals), {}),
          });
          const other = newCanary();
          const fresh = await exec(gateway, { command: `touch ${other}` }, asOps);
          const isAsked = fresh.details["status"] === "approval-pending" && fresh.details["host"] === "gateway";
          const mayRun = isAsked || existsSync(other);
          await wire.request("exec.approval.resolve", { id, decision });
          await until(
            () => trailOf(id),
            (row) => row?.["state"] === "denied" || row?.["state"] === "done",
          );
          if (!mayRun) assert.equal(existsSync(canary), false, `${picked.join(" and ")}: ran all the same`);
          // A fresh call in another workspace is another command: refusing the old one is right too.
          else if (!picked.includes("the agent has another workspace"))
            assert.equal(existsSync(canary), true, `${picked.join(" and ")}: ${JSON.stringify(await trailOf(id))}`);
        },
      ),
      { numRuns: 12 },
    );
  });

  test("does not remember what it refuses: allow-always adds no entry", async () => {
    await apply({});
    const id = await askFor(newCanary());
    await apply({ config: { tools: { deny: ["exec"] } } });
    await wire.request("exec.approval.resolve", { id, decision: "allow-always" });
    assert.doesNotMatch(readFileSync(join(gateway.state, "exec-approvals.json"), "utf8"), /touch/);
  });

  test("does not run for a session that was deleted or reset since", async () => {
    await apply({});
    for (const method of ["sessions.delete", "sessions.reset"]) {
      const key = "agent:ops:side";
      await wire.request("sessions.patch", { key, label: `side-${method}` });
      const canary = newCanary();
      const { details } = await exec(gateway, { command: `touch ${canary}` }, { body: { sessionKey: key } });
      assert.equal((await wire.request(method, { key })).ok, true);
      const slot = await wire.request("exec.approval.resolve", { id: details["approvalId"], decision: "allow-once" });
      assert.equal(slot.ok, false);
      assert.equal(existsSync(canary), false);
    }
  });

  test("the command line says why the command did not run", async () => {
    await apply({});
    const canary = newCanary();
    const id = await askFor(canary);
    await apply({ config: { tools: { exec: { security: "deny" } } } });
    const { code, stdout } = await openclaw(gateway.home, ["approvals", "resolve", id.slice(0, 8), "allow-once"]);
    assert.match(stdout, /blocked by the current rules: .*security=deny/);
    assert.equal(code, 1);
    assert.equal(existsSync(canary), false);
  });
});

test("an approval that was asked before a restart is judged by the rules after it", async (t) => {
  const config = { ...listed(base) };
  const first = await startGateway({ config });
  t.after(() => dispose(first));
  mkdirSync(first.workspace, { recursive: true });
  const canaries = ["denied", "allowed"].map((name) => join(first.home, name));
  const asked: string[] = [];
  const asker = await operator(first);
  for (const [at, agent] of ["ops", "main"].entries()) {
    const { details } = await exec(
      first,
      { command: `touch ${canaries[at] ?? ""}` },
      { body: { sessionKey: `agent:${agent}:main` } },
    );
    asked.push(String(details["approvalId"]));
  }
  asker.end();
  await first.stop();
  const second = await startGateway({
    home: first.home,
    config: listed(merged(base, agentPart({ tools: { deny: ["exec"] } }))),
  });
  t.after(() => dispose(second));
  const wire = await operator(second);
  const answers = [];
  for (const id of asked) answers.push(await wire.request("exec.approval.resolve", { id, decision: "allow-once" }));
  assert.match(JSON.stringify(answers[0]?.payload), /"decision":"deny","reason":"exec: /);
  assert.deepEqual(answers[1]?.payload, { ok: true });
  await until(() => existsSync(canaries[1] ?? ""), Boolean);
  assert.equal(existsSync(canaries[0] ?? ""), false);
  wire.end();
});

describe("a pending approval of other kinds answered after the rules changed", () => {
  let gateway: TestGateway;
  let wire: Wire;
  const nodes: { end(): void }[] = [];
  const onNode = merged(base, { tools: { exec: { host: "node" } }, commands: { restart: true } });
  before(async () => {
    gateway = await startGateway({ config: { ...listed(onNode), gateway: { reload: { debounceMs: 20 } } } });
    wire = await operator(gateway);
  });
  afterEach(() => {
    for (const node of nodes.splice(0)) node.end();
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  test("a command for a node does not run when the node's own file denies it meanwhile", async () => {
    const node = await scriptedNode(gateway);
    nodes.push(node);
    let file: Json = {};
    node.script((asked: Asked): NodeReply => {
      if (asked.command === "system.execApprovals.get")
        return { payload: { path: "/n", exists: true, hash: "h", file: { version: 1, ...file } } };
      return asked.params?.["approved"] === true
        ? ranFine("ran")
        : { error: { code: "UNAVAILABLE", message: "SYSTEM_RUN_DENIED: approval required" } };
    });
    const runs = (): number => node.asked.filter(({ params }) => params?.["approved"] === true).length;
    for (const [change, refused] of [
      [() => (file = { defaults: { security: "deny" } }), /security=deny/],
      [() => putInForce(gateway, onNode, { tools: { deny: ["exec"] } }), /exec/],
      [() => putInForce(gateway, onNode, { tools: { exec: { host: "gateway" } } }), /gateway host/],
      [() => putInForce(gateway, onNode, { tools: { exec: { node: "another" } } }), /another/],
    ] as const) {
      file = {};
      await putInForce(gateway, onNode, {});
      const { details, text } = await exec(gateway, { command: "uname" });
      assert.equal(details["status"], "approval-pending", text);
      await change();
      const payload = await wire.call("exec.approval.resolve", {
        id: details["approvalId"],
        decision: "allow-once",
      });
      assert.match(String(payload["reason"]), refused);
      assert.equal(runs(), 0);
    }
    file = {};
    await putInForce(gateway, onNode, {});
    const { details } = await exec(gateway, { command: "uname" });
    await wire.request("exec.approval.resolve", { id: details["approvalId"], decision: "allow-once" });
    await until(runs, (count) => count === 1);
  });

  test("a config change is not written when the agent may no longer use the gateway tool", async () => {
    await putInForce(gateway, onNode, {});
    const raw = "{tools:{exec:{security:'full'}}}";
    const asked = await call(gateway, "gateway", { action: "config.patch", raw });
    assert.equal(asked.details["status"], "approval-pending", asked.text);
    const id = String(asked.details["approvalId"]);
    await putInForce(gateway, onNode, { tools: { deny: ["gateway"] } });
    const payload = await wire.call("exec.approval.resolve", { id, decision: "allow-once" });
    assert.match(String(payload["reason"]), /gateway/);
    assert.doesNotMatch(readFileSync(configFile(gateway), "utf8"), /full/);
  });

  test("a job is not added when the agent may no longer use cron, and not changed when it differs meanwhile", async () => {
    const asOps = { body: { sessionKey: "agent:ops:main" } };
    await putInForce(gateway, onNode, { tools: { agentToAgent: { enabled: true, allow: ["*"] } } });
    const job = {
      name: "nightly",
      agentId: "main",
      schedule: { kind: "every", everyMs: 3_600_000 },
      payload: { kind: "systemEvent", text: "hello" },
    };
    const asked = await call(gateway, "cron", { action: "add", job }, asOps);
    assert.match(asked.text, /approv/i, asked.text);
    const [pending] = (await wire.call("exec.approvals.pending", {})).pending;
    await putInForce(gateway, onNode, agentPart({ tools: { deny: ["cron"] } }));
    const refused = await wire.call("exec.approval.resolve", { id: pending?.id, decision: "allow-once" });
    assert.match(refused.reason ?? "", /cron/);
    const list = async (): Promise<readonly { id: string; name: string }[]> =>
      (await wire.call("cron.list", { includeDisabled: true })).jobs;
    assert.deepEqual(await list(), []);

    await putInForce(gateway, onNode, { tools: { agentToAgent: { enabled: true, allow: ["*"] } } });
    await wire.request("cron.add", { ...job, sessionTarget: "main", wakeMode: "now" });
    const [kept] = await list();
    await call(gateway, "cron", { action: "update", jobId: kept?.id, patch: { name: "renamed" } }, asOps);
    const [update] = (await wire.call("exec.approvals.pending", {})).pending;
    await wire.request("cron.update", { id: kept?.id, patch: { payload: { kind: "systemEvent", text: "other" } } });
    const changed = await wire.call("exec.approval.resolve", { id: update?.id, decision: "allow-once" });
    assert.match(changed.reason ?? "", /the job changed after you were asked/);
    assert.equal((await list())[0]?.name, "nightly");
  });
});
