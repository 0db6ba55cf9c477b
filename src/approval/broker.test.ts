import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";

import { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import { openLog } from "../base/log.ts";
import { createMask } from "../base/mask.ts";
import { openStore } from "../store/builtin.ts";
import type { Store } from "../store/store.ts";
import { createApprovalBroker, type ApprovalBroker, type BrokerDeps, type ClientAskRequest } from "./broker.ts";
import type { ApprovalHandler } from "./handler.ts";
import type { Answerer, Approval } from "./record.ts";

const owner: Answerer = { clientId: "openclaw-control-ui", surface: "page", deviceId: "d1" };
const user = { agent: "main", session: "agent:main:main" };

function question(more: Partial<ClientAskRequest> = {}): ClientAskRequest {
  return {
    kind: "exec",
    ...user,
    body: { argv: ["/usr/bin/uptime", "-p"] },
    card: {
      title: "Run a command",
      text: "uptime -p",
      rows: [{ label: "Folder", value: "/ws" }],
      always: "/usr/bin/uptime",
    },
    ...more,
  };
}

let folder = "";
let store: Store;
let broker: ApprovalBroker;
let lines: string[] = [];
let events: string[] = [];
let nowMs = 0;

const clock = { now: () => nowMs, ticks: () => performance.now() };

async function open(more: Partial<BrokerDeps> = {}): Promise<void> {
  const log = openLog({
    level: "silent",
    consoleLevel: "info",
    consoleStyle: "json",
    mask: createMask(["hunter2-hunter2"]),
    write: (line) => lines.push(line),
  });
  broker = createApprovalBroker({ store, clock, log, mask: createMask(["hunter2-hunter2"]), ...more });
  const note = (what: string) => (approval: Approval) =>
    void events.push(`${what} ${approval.id} ${approval.state} ${approval.decision ?? "-"} ${approval.reason ?? "-"}`);
  broker.watch({
    requested: note("requested"),
    resolved: note("resolved"),
    lapsed: note("lapsed"),
    interrupted: note("interrupted"),
  });
  await broker.recover();
}

/** As a killed process leaves it: the old broker is not called again. */
async function restart(more: Partial<BrokerDeps> = {}): Promise<void> {
  await store.close();
  store = await openStore({ file: join(folder, "store.sqlite") });
  events = [];
  await open(more);
}

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof OpenClawError ? error.code : String(error)),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-broker-"));
  store = await openStore({ file: join(folder, "store.sqlite") });
  [lines, events, nowMs] = [[], [], Date.now()];
  await open();
});

afterEach(async () => {
  broker.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("asking", () => {
  test("stores the whole request before anyone is asked", async () => {
    const kept: unknown[] = [];
    broker.watch({ requested: ({ id }) => void kept.push(store.kv.get("approvals", id)) });
    const approval = await broker.askForClient(question({ id: "a-question" }));
    assert.deepEqual(approval, {
      id: "a-question",
      kind: "exec",
      handler: null,
      ...user,
      request: {
        command: "uptime -p",
        cwd: null,
        host: null,
        security: null,
        ask: null,
        agentId: "main",
        resolvedPath: null,
        sessionKey: "agent:main:main",
      },
      card: {
        title: "Run a command",
        text: "uptime -p",
        rows: [{ label: "Folder", value: "/ws" }],
        always: "/usr/bin/uptime",
      },
      body: { argv: ["/usr/bin/uptime", "-p"] },
      createdAtMs: nowMs,
      expiresAtMs: nowMs + 120_000,
      state: "pending",
    });
    assert.deepEqual(await kept[0], approval);
    assert.deepEqual(broker.pending(), [approval]);
    assert.deepEqual(events, ["requested a-question pending - -"]);
  });

  test("keeps the request when the caller changes its object afterwards (APR-001, APR-008)", async () => {
    const body = { argv: ["ls"], env: {} as Record<string, string> };
    const { id } = await broker.askForClient(question({ body }));
    body.argv[0] = "rm";
    body.env["BASH_ENV"] = "/tmp/x";
    await broker.answer(id, "allow-once", owner);
    assert.deepEqual(broker.grantFor(id, user)?.body, { argv: ["ls"], env: {} });
  });

  test("rejects ids that are taken, ambiguous or malformed", async () => {
    const { id } = await broker.askForClient(question({ id: "abcdefgh-1234" }));
    assert.equal(await codeOf(broker.askForClient(question({ id }))), "approval.id-taken");
    assert.equal(
      await codeOf(broker.askForClient(question({ id: "ABCDEFGH" }))),
      "approval.id-taken",
      "a short form of another",
    );
    assert.equal(
      await codeOf(broker.askForClient(question({ id: `${id}-5` }))),
      "approval.id-taken",
      "another's short form",
    );
    assert.equal(await codeOf(broker.askForClient(question({ id: "x y" }))), "approval.bad-id");
    assert.equal(await codeOf(broker.askForClient(question({ id: "x".repeat(129) }))), "approval.bad-id");
    await broker.answer(id, "deny", owner);
    assert.equal(
      await codeOf(broker.askForClient(question({ id }))),
      "approval.id-taken",
      "an answered id is not asked again",
    );
  });

  test("rejects a card that is too long to read (APR-019)", async () => {
    const text = `echo ${"x".repeat(100_000)}; rm -rf ~`;
    assert.equal(
      await codeOf(broker.askForClient(question({ card: { title: "t", text, rows: [] } }))),
      "approval.too-long",
    );
    const rows = [{ label: "Environment", value: "y".repeat(20_000) }];
    assert.equal(
      await codeOf(broker.askForClient(question({ card: { title: "t", text: "ls", rows } }))),
      "approval.too-long",
    );
    assert.deepEqual(broker.pending(), []);
  });

  test("spells out invisible characters in the card and in the recorded fields (APR-020, APR-021)", async () => {
    const text = "ls \u202e\u200b\u3164\u001b[2K\r";
    const shown = "ls \\u{202e}\\u{200b}\\u{3164}\\u{1b}[2K\\u{d}";
    const { card, request, body } = await broker.askForClient(
      question({
        body: { text },
        card: { title: text, text, rows: [{ label: "Folder", value: text }], always: text },
        request: { command: text, cwd: text, resolvedPath: text },
      }),
    );
    assert.deepEqual(card, { title: shown, text: shown, rows: [{ label: "Folder", value: shown }], always: shown });
    assert.deepEqual([request.command, request.cwd, request.resolvedPath], [shown, shown, shown]);
    assert.deepEqual(body, { text }, "the body is not changed");
  });

  test("limits pending approvals, for each session and for all", async () => {
    for (let index = 0; index < 100; index += 1) await broker.askForClient(question());
    assert.equal(await codeOf(broker.askForClient(question())), "approval.too-many");
    for (let index = 0; index < 100; index += 1)
      await broker.askForClient(question({ session: `agent:main:${index}` }));
    assert.equal(await codeOf(broker.askForClient(question({ session: "agent:main:other" }))), "approval.too-many");
  });
});

describe("answering", () => {
  test("accepts the id and an unambiguous beginning of it", async () => {
    await broker.askForClient(question({ id: "aaaaaaaa-1111" }));
    await broker.askForClient(question({ id: "aaaaaaaa-2222" }));
    assert.equal(await codeOf(broker.answer("aaaaaaa", "deny", owner)), "approval.unknown", "seven characters");
    assert.equal(await codeOf(broker.answer("aaaaaaaa", "deny", owner)), "approval.ambiguous");
    assert.equal(await codeOf(broker.answer("nope", "deny", owner)), "approval.unknown");
    const { id, state, answeredBy } = await broker.answer(" AAAAAAAA-2 ", "allow-once", owner);
    assert.deepEqual([id, state, answeredBy], ["aaaaaaaa-2222", "allowed", owner]);
    assert.deepEqual(events.at(-1), "resolved aaaaaaaa-2222 allowed allow-once -");
  });

  test("accepts one of many answers at the same time and rejects the others as unknown (APR-014)", async () => {
    for (let round = 0; round < 50; round += 1) {
      const { id } = await broker.askForClient(question());
      const decisions = ["allow-once", "deny", "allow-always", "deny"] as const;
      const codes = await Promise.all(decisions.map((decision) => codeOf(broker.answer(id, decision, owner))));
      assert.deepEqual(codes.toSorted(), ["approval.unknown", "approval.unknown", "approval.unknown", "ok"]);
      const winner = decisions[codes.indexOf("ok")];
      assert.equal(broker.get(id)?.decision, winner);
      assert.equal(await broker.wait(id), winner);
    }
    assert.equal(events.filter((line) => line.startsWith("resolved")).length, 50);
  });

  test("rejects an answer after the expiry, also when no timer has fired yet (APR-013)", async () => {
    const { id } = await broker.askForClient(question());
    nowMs += 120_000;
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
    assert.equal(broker.get(id)?.state, "expired");
    assert.equal(await broker.wait(id), null);
    assert.equal(await broker.begin(id), false);
  });

  test("rejects an answer to a withdrawn request (APR-013)", async () => {
    const { id } = await broker.askForClient(question());
    const waiting = broker.wait(id);
    assert.equal(await broker.withdraw(id, "the turn was stopped"), true);
    assert.equal(await waiting, "deny");
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
    assert.equal(await broker.withdraw(id, "again"), false);
    assert.equal(await broker.begin(id), false);
    assert.equal(events.at(-1), `resolved ${id} denied deny the turn was stopped`);
  });

  test("can be given again when it could not be stored", async () => {
    let isFull = false;
    const full = new OpenClawError("store.full", "the disk is full");
    const kv: Store["kv"] = {
      ...store.kv,
      set: (...row) => (isFull ? Promise.reject(full) : store.kv.set(...row)),
    };
    await open({ store: { kv } });
    const { id } = await broker.askForClient(question());
    isFull = true;
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "store.full");
    assert.equal(broker.get(id)?.state, "pending");
    isFull = false;
    assert.equal((await broker.answer(id, "deny", owner)).state, "denied");
  });
});

describe("waiting", () => {
  test("ends with the answer for all callers, and with the signal for one", async () => {
    const { id } = await broker.askForClient(question());
    const stop = new AbortController();
    const [one, two] = [broker.wait(id), broker.wait(id, stop.signal)];
    stop.abort(new OpenClawError("run.aborted", "stopped"));
    assert.equal(await codeOf(two), "run.aborted");
    assert.equal(broker.get(id)?.state, "pending", "ending the wait does not answer");
    await broker.answer(id, "allow-always", owner);
    assert.equal(await one, "allow-always");
    assert.equal(await codeOf(broker.wait("nope")), "approval.unknown");
  });

  test("resolves with null when the approval expires", async () => {
    await open({ clock: systemClock });
    const { id } = await broker.askForClient(question({ timeoutMs: 20 }));
    assert.equal(await broker.wait(id), null);
    assert.equal(events.at(-1), `resolved ${id} expired - the approval expired without an answer`);
  });

  test("ends when the broker closes, and the approval stays pending", async () => {
    const { id } = await broker.askForClient(question());
    const waiting = codeOf(broker.wait(id));
    broker.close();
    assert.equal(await waiting, "gateway.closing");
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "gateway.closing");
    await restart();
    assert.equal(broker.get(id)?.state, "pending");
  });
});

describe("starting", () => {
  test("succeeds once, however many try", async () => {
    const { id } = await broker.askForClient(question());
    assert.equal(await broker.begin(id), false, "not before the answer");
    await broker.answer(id, "allow-once", owner);
    const tries = await Promise.all(Array.from({ length: 20 }, () => broker.begin(id)));
    assert.deepEqual(
      tries.filter((mine) => mine),
      [true],
    );
    assert.equal(broker.get(id)?.state, "started");
    await broker.finish(id, "exit code 0");
    assert.deepEqual([broker.get(id)?.state, broker.get(id)?.reason], ["done", "exit code 0"]);
    assert.equal(await broker.begin(id), false, "an answer allows one start only (APR-011)");
  });

  test("is possible only for the agent and session that asked (APR-012)", async () => {
    const { id } = await broker.askForClient(question());
    await broker.answer(id, "allow-once", owner);
    const others = [
      { ...user, session: "agent:main:other" },
      { ...user, agent: "work" },
      { agent: null, session: null },
    ];
    for (const other of others) {
      assert.equal(broker.grantFor(id, other), undefined);
      assert.equal(await broker.begin(id, other), false);
    }
    assert.deepEqual(broker.grantFor(id, user), {
      id,
      kind: "exec",
      handler: null,
      decision: "allow-once",
      ...user,
      body: { argv: ["/usr/bin/uptime", "-p"] },
    });
    assert.equal(await broker.begin(id, user), true);
    assert.equal(broker.grantFor(id, user), undefined);
    assert.deepEqual(broker.grants(), []);
  });

  test("is impossible when the approval was not used in time", async () => {
    const { id } = await broker.askForClient(question());
    await broker.answer(id, "allow-once", owner);
    nowMs += 60_000;
    assert.equal(broker.grantFor(id, user), undefined);
    assert.equal(await broker.begin(id, user), false);
    assert.equal(await broker.begin(id), false);
    assert.equal(events.at(-1), `lapsed ${id} denied allow-once it was allowed, but not started in time`);
  });

  test("of an unknown id returns false", async () => {
    assert.deepEqual(
      [await broker.begin("never"), await broker.withdraw("never", "x"), await broker.finish("never")],
      [false, false, undefined],
    );
  });

  test("is impossible for a denied approval", async () => {
    const { id } = await broker.askForClient(question());
    await broker.answer(id, "deny", owner);
    assert.equal(await broker.begin(id), false);
    assert.deepEqual(broker.grants(), []);
  });
});

describe("after a restart", () => {
  test("a pending approval can be answered and started", async () => {
    const { id, body } = await broker.askForClient(question());
    await restart();
    assert.deepEqual(
      broker.pending().map(({ id: mine, body: kept }) => [mine, kept]),
      [[id, body]],
    );
    await broker.answer(id, "allow-once", owner);
    assert.equal(await broker.begin(id), true);
  });

  test("an approval that expired meanwhile is reported as expired", async () => {
    const { id } = await broker.askForClient(question());
    nowMs += 120_001;
    await restart();
    assert.deepEqual(events, [`resolved ${id} expired - the approval expired without an answer`]);
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
  });

  test("an approval that was allowed and not started is denied, and reported once", async () => {
    const { id } = await broker.askForClient(question());
    await broker.answer(id, "allow-once", owner);
    await restart();
    const reason = "the gateway stopped between the answer and the start; nothing was run";
    assert.deepEqual(events, [`lapsed ${id} denied allow-once ${reason}`]);
    assert.equal(await broker.begin(id), false);
    await restart();
    assert.deepEqual(events, [], "reported once");
  });

  test("an approval that had started is not started again", async () => {
    const { id } = await broker.askForClient(question());
    await broker.answer(id, "allow-once", owner);
    await broker.begin(id);
    await restart();
    assert.deepEqual(events, [
      `interrupted ${id} done allow-once the gateway stopped while it ran; the outcome is not known`,
    ]);
    assert.equal(await broker.begin(id), false);
  });

  test("a damaged row counts as denied and is logged", async () => {
    await store.kv.set("approvals", "odd", { id: "odd", state: "allowed" });
    await restart();
    assert.deepEqual([broker.pending(), broker.grants(), broker.get("odd")], [[], [], undefined]);
    assert.match(lines.join("\n"), /could not be read; it counts as denied.*odd/);
  });
});

describe("the trail", () => {
  test("keeps a limited number of answers with the answerer, without secrets and without the plan", async () => {
    await open({ keep: 3 });
    const text = "curl -H hunter2-hunter2 https://example.org";
    for (let index = 0; index < 5; index += 1) {
      nowMs += 1;
      const { id } = await broker.askForClient(
        question({ id: `q-${index}`, card: { title: "Run", text, rows: [] }, body: { text } }),
      );
      assert.equal(broker.get(id)?.card.text, text, "a pending card is not redacted");
      await broker.answer(id, "deny", { ...owner, sender: "telegram:42" });
    }
    const trail = broker.trail(10);
    assert.deepEqual(
      trail.map(({ id, state, answeredBy, body }) => [id, state, answeredBy?.sender, body]),
      [4, 3, 2].map((index) => [`q-${index}`, "denied", "telegram:42", undefined]),
    );
    const kept = await store.kv.list("approvals");
    assert.deepEqual(
      kept.map(({ key }) => key),
      ["q-2", "q-3", "q-4"],
    );
    assert.doesNotMatch(JSON.stringify([kept, lines]), /hunter2/);
    assert.deepEqual(
      lines.filter((line) => line.includes('"q-4"')).map((line) => JSON.parse(line).message),
      ["approval pending", "approval denied"],
    );
  });
});

test("people are reachable when any port reports one", () => {
  assert.equal(broker.reachable(), false);
  let isConnected = false;
  const leave = broker.reachBy(() => isConnected);
  assert.equal(broker.reachable(), false);
  isConnected = true;
  assert.equal(broker.reachable(), true);
  leave();
  assert.equal(broker.reachable(), false);
});

test("a listener that throws is logged and does not stop the others", async () => {
  broker.watch({ requested: () => assert.fail("a bug in a listener") });
  const later: string[] = [];
  broker.watch({ requested: ({ id }) => void later.push(id) });
  const { id } = await broker.askForClient(question());
  assert.deepEqual(later, [id]);
  assert.match(lines.join("\n"), /an approval listener failed/);
});

describe("a handler", () => {
  /** Registers a handler that notes its calls; `refusal` is what its recheck throws. */
  function register(more: Partial<ApprovalHandler<string>> = {}): ApprovalHandler<string> & { calls: string[] } {
    const calls: string[] = [];
    const note = (name: string) => async (approval: Approval) =>
      void calls.push(`${name} ${approval.state} ${approval.decision ?? "-"} ${JSON.stringify(approval.body)}`);
    const handler: ApprovalHandler<string> = {
      name: "exec",
      kind: "exec",
      canAllowAlways: true,
      card: (text) => ({ title: "Run a command", text, rows: [] }),
      recheck: async () => {},
      async run(approval) {
        await note("run")(approval);
        assert.equal(broker.get(approval.id)?.state, "started", "the start is durable first");
        return "exit code 0";
      },
      denied: note("denied"),
      interrupted: note("interrupted"),
      ...more,
    };
    unregister = broker.register(handler.name, async () => handler);
    return { ...handler, calls };
  }
  let unregister: () => Promise<void>;
  const request = { ...user, body: { argv: ["uptime"] } };

  test("draws the card, is asked to run an allowed approval once, and its outcome is recorded", async () => {
    const handler = register();
    const { id, card, kind, handler: name } = await broker.ask(handler, "uptime", request);
    assert.deepEqual([card.text, kind, name], ["uptime", "exec", "exec"]);
    await broker.answer(id, "allow-once", owner);
    await unregister();
    assert.deepEqual(handler.calls, ['run allowed allow-once {"argv":["uptime"]}']);
    assert.deepEqual([broker.get(id)?.state, broker.get(id)?.reason], ["done", "exit code 0"]);
    assert.equal(await broker.begin(id), false);
  });

  test("is notified of a denial, an expiry and a withdrawal, with the body", async () => {
    const handler = register();
    const denied = await broker.ask(handler, "a", request);
    await broker.answer(denied.id, "deny", owner);
    const withdrawn = await broker.ask(handler, "b", request);
    await broker.withdraw(withdrawn.id, "stopped");
    const late = await broker.ask(handler, "c", request);
    nowMs += 120_000;
    assert.equal(await codeOf(broker.answer(late.id, "allow-once", owner)), "approval.unknown");
    await unregister();
    const body = '{"argv":["uptime"]}';
    assert.deepEqual(handler.calls, [
      `denied denied deny ${body}`,
      `denied denied deny ${body}`,
      `denied expired - ${body}`,
    ]);
  });

  test("refuses at the answer what the rules in force do not allow", async () => {
    const handler = register({
      recheck: () => Promise.reject(new OpenClawError("exec.denied", "not on the allowlist\nmore")),
    });
    const { id } = await broker.ask(handler, "uptime", request);
    const { state, decision, reason } = await broker.answer(id, "allow-once", owner);
    assert.deepEqual([state, decision, reason], ["denied", "deny", "not on the allowlist"]);
    await unregister();
    assert.deepEqual(handler.calls, ['denied denied deny {"argv":["uptime"]}']);
  });

  test("refuses at the start what was allowed at the answer", async () => {
    let rechecks = 0;
    const handler = register({
      recheck: async () => {
        rechecks += 1;
        if (rechecks > 1) throw new OpenClawError("exec.denied", "not on the allowlist any more");
      },
    });
    const { id } = await broker.ask(handler, "uptime", request);
    assert.equal((await broker.answer(id, "allow-once", owner)).state, "allowed");
    await unregister();
    assert.deepEqual([broker.get(id)?.state, broker.get(id)?.reason], ["denied", "not on the allowlist any more"]);
    assert.equal(
      handler.calls.some((call) => call.startsWith("run")),
      false,
    );
  });

  test("that takes one answer only rejects allow-always and keeps waiting", async () => {
    const handler = register({ name: "config", kind: "config", canAllowAlways: false });
    const { id } = await broker.ask(handler, "a change", request);
    assert.equal(await codeOf(broker.answer(id, "allow-always", owner)), "approval.no-always");
    assert.equal((await broker.answer(id, "allow-once", owner)).state, "allowed");
    await unregister();
  });

  test("that is not registered can neither ask nor have its approvals allowed", async () => {
    const handler = register();
    const { id } = await broker.ask(handler, "uptime", request);
    await unregister();
    assert.equal(await codeOf(broker.ask(handler, "uptime", request)), "approval.not-available");
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.not-available");
    assert.equal(broker.get(id)?.state, "pending");
  });

  test("is found again by the next process, also for approvals of the same kind that another part asked for", async () => {
    const asked = [register({ name: "config", kind: "config" }), register({ name: "cron", kind: "config" })];
    const ids = await Promise.all(asked.map(async (handler) => (await broker.ask(handler, handler.name, request)).id));
    await restart();
    const handlers = [register({ name: "config", kind: "config" }), register({ name: "cron", kind: "config" })];
    await broker.answer(ids[1] ?? "", "allow-once", owner);
    await unregister();
    assert.deepEqual(
      handlers.map(({ calls }) => calls.length),
      [0, 1],
    );
  });

  test("is notified after a restart of runs that were allowed and not started, and of runs that had started", async () => {
    const slow = register({ run: () => new Promise(() => {}) });
    const running = await broker.ask(slow, "sleep", request);
    await broker.answer(running.id, "allow-once", owner);
    while (broker.get(running.id)?.state !== "started") await new Promise(setImmediate);
    await reopen();
    const { calls } = register();
    await broker.recover();
    await unregister();
    assert.deepEqual(calls, ['interrupted done allow-once {"argv":["uptime"]}']);
  });

  test("loses what a stopped session asked for, and clients keep their requests (APR-013)", async () => {
    const handler = register({ run: () => new Promise(() => {}) });
    const [mine, also] = [await broker.ask(handler, "a", request), await broker.ask(handler, "b", request)];
    const other = await broker.ask(handler, "c", { ...request, session: "agent:main:other" });
    const client = await broker.askForClient(question());
    await broker.answer(also.id, "allow-once", owner);
    assert.equal(await broker.withdrawAll(user.session, "stopped"), 1);
    assert.deepEqual(
      [mine, other, client].map(({ id }) => broker.get(id)?.state),
      ["denied", "pending", "pending"],
    );
    assert.match(broker.get(also.id)?.state ?? "", /allowed|started/);
  });

  /** Restarts without recovering, so that handlers can be registered first. */
  async function reopen(): Promise<void> {
    await store.close();
    store = await openStore({ file: join(folder, "store.sqlite") });
    const log = openLog({ level: "silent", consoleLevel: "silent", consoleStyle: "json", mask: createMask() });
    broker = createApprovalBroker({ store, clock, log });
  }
});

test("approvals that an older version left open are closed, and its closed ones stay in the trail", async () => {
  const { handler: _handler, ...row } = await broker.askForClient(question());
  const closed = { ...row, id: "closed", origin: "house", state: "done", closedAtMs: nowMs };
  await store.kv.set("approvals", row.id, { ...row, origin: "house" });
  await store.kv.set("approvals", "closed", closed);
  await restart();
  assert.deepEqual(broker.pending(), []);
  assert.equal(broker.get(row.id)?.reason, "it was asked before this gateway was updated; ask again");
  assert.equal(await codeOf(broker.answer(row.id, "allow-once", owner)), "approval.unknown");
  assert.equal(broker.trail(10).length, 2);
});
