import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";

import { OpenClawError } from "../../core/error.ts";
import { systemClock } from "../../base/clock.ts";
import { openLog } from "../../base/log.ts";
import { createMask } from "../../base/mask.ts";
import { openStore } from "../../store/builtin.ts";
import type { Store } from "../../store/store.ts";
import { createApprovalBroker, type ApprovalBroker, type BrokerDeps } from "../../approval/broker.ts";
import type { AskRequest } from "../../approval/transitions.ts";
import type { Answerer, Approval } from "../../approval/record.ts";

const owner: Answerer = { clientId: "openclaw-control-ui", surface: "page", deviceId: "d1" };
const user = { agent: "main", session: "agent:main:main" };

function question(more: Partial<AskRequest> = {}): AskRequest {
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
let heard: string[] = [];
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
    void heard.push(`${what} ${approval.id} ${approval.state} ${approval.decision ?? "-"} ${approval.reason ?? "-"}`);
  broker.watch({
    requested: note("requested"),
    resolved: note("resolved"),
    lapsed: note("lapsed"),
    interrupted: note("interrupted"),
  });
  await broker.recover();
}

/** As a killed process leaves it: nothing of the old desk is called again. */
async function restart(more: Partial<BrokerDeps> = {}): Promise<void> {
  await store.close();
  store = await openStore({ file: join(folder, "store.sqlite") });
  heard = [];
  await open(more);
}

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof OpenClawError ? error.code : String(error)),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-desk-"));
  store = await openStore({ file: join(folder, "store.sqlite") });
  [lines, heard, nowMs] = [[], [], Date.now()];
  await open();
});

afterEach(async () => {
  broker.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("asking", () => {
  test("is durable before it is told, and whole", async () => {
    const kept: unknown[] = [];
    broker.watch({ requested: ({ id }) => void kept.push(store.kv.get("approvals", id)) });
    const approval = await broker.ask(question({ id: "a-question" }));
    assert.deepEqual(approval, {
      id: "a-question",
      kind: "exec",
      origin: "house",
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
    assert.deepEqual(heard, ["requested a-question pending - -"]);
  });

  test("keeps what was asked when the caller changes its mind about the words (APR-001, APR-008)", async () => {
    const body = { argv: ["ls"], env: {} as Record<string, string> };
    const { id } = await broker.ask(question({ body }));
    body.argv[0] = "rm";
    body.env["BASH_ENV"] = "/tmp/x";
    await broker.answer(id, "allow-once", owner);
    assert.deepEqual(broker.grantFor(id, user)?.body, { argv: ["ls"], env: {} });
  });

  test("is refused for ids that are taken, misleading or no ids", async () => {
    const { id } = await broker.ask(question({ id: "abcdefgh-1234" }));
    assert.equal(await codeOf(broker.ask(question({ id }))), "approval.id-taken");
    assert.equal(
      await codeOf(broker.ask(question({ id: "ABCDEFGH" }))),
      "approval.id-taken",
      "a short form of another",
    );
    assert.equal(await codeOf(broker.ask(question({ id: `${id}-5` }))), "approval.id-taken", "another's short form");
    assert.equal(await codeOf(broker.ask(question({ id: "x y" }))), "approval.bad-id");
    assert.equal(await codeOf(broker.ask(question({ id: "x".repeat(129) }))), "approval.bad-id");
    await broker.answer(id, "deny", owner);
    assert.equal(await codeOf(broker.ask(question({ id }))), "approval.id-taken", "an answered id is not asked again");
  });

  test("is refused when the card cannot be shown whole (APR-019)", async () => {
    const text = `echo ${"x".repeat(100_000)}; rm -rf ~`;
    assert.equal(await codeOf(broker.ask(question({ card: { title: "t", text, rows: [] } }))), "approval.too-long");
    const rows = [{ label: "Environment", value: "y".repeat(20_000) }];
    assert.equal(await codeOf(broker.ask(question({ card: { title: "t", text: "ls", rows } }))), "approval.too-long");
    assert.deepEqual(broker.pending(), []);
  });

  test("spells out what hides, in the card and in the recorded fields (APR-020, APR-021)", async () => {
    const text = "ls \u202e\u200b\u3164\u001b[2K\r";
    const shown = "ls \\u{202e}\\u{200b}\\u{3164}\\u{1b}[2K\\u{d}";
    const { card, request, body } = await broker.ask(
      question({
        body: { text },
        card: { title: text, text, rows: [{ label: "Folder", value: text }], always: text },
        request: { command: text, cwd: text, resolvedPath: text },
      }),
    );
    assert.deepEqual(card, { title: shown, text: shown, rows: [{ label: "Folder", value: shown }], always: shown });
    assert.deepEqual([request.command, request.cwd, request.resolvedPath], [shown, shown, shown]);
    assert.deepEqual(body, { text }, "what runs is not what was respelled");
  });

  test("has an end, and one session cannot use it up for the others", async () => {
    for (let index = 0; index < 100; index += 1) await broker.ask(question());
    assert.equal(await codeOf(broker.ask(question())), "approval.too-many");
    for (let index = 0; index < 100; index += 1) await broker.ask(question({ session: `agent:main:${index}` }));
    assert.equal(await codeOf(broker.ask(question({ session: "agent:main:other" }))), "approval.too-many");
  });
});

describe("answering", () => {
  test("is possible by the id and by an unambiguous beginning of it", async () => {
    await broker.ask(question({ id: "aaaaaaaa-1111" }));
    await broker.ask(question({ id: "aaaaaaaa-2222" }));
    assert.equal(await codeOf(broker.answer("aaaaaaa", "deny", owner)), "approval.unknown", "seven characters");
    assert.equal(await codeOf(broker.answer("aaaaaaaa", "deny", owner)), "approval.ambiguous");
    assert.equal(await codeOf(broker.answer("nope", "deny", owner)), "approval.unknown");
    const { id, state, answeredBy } = await broker.answer(" AAAAAAAA-2 ", "allow-once", owner);
    assert.deepEqual([id, state, answeredBy], ["aaaaaaaa-2222", "allowed", owner]);
    assert.deepEqual(heard.at(-1), "resolved aaaaaaaa-2222 allowed allow-once -");
  });

  test("counts once: of many at the same time one wins, the rest hear that it is unknown (APR-014)", async () => {
    for (let round = 0; round < 50; round += 1) {
      const { id } = await broker.ask(question());
      const decisions = ["allow-once", "deny", "allow-always", "deny"] as const;
      const codes = await Promise.all(decisions.map((decision) => codeOf(broker.answer(id, decision, owner))));
      assert.deepEqual(codes.toSorted(), ["approval.unknown", "approval.unknown", "approval.unknown", "ok"]);
      const winner = decisions[codes.indexOf("ok")];
      assert.equal(broker.get(id)?.decision, winner);
      assert.equal(await broker.wait(id), winner);
    }
    assert.equal(heard.filter((line) => line.startsWith("resolved")).length, 50);
  });

  test("after the time is over is a denial, also when no timer has fired yet (APR-013)", async () => {
    const { id } = await broker.ask(question());
    nowMs += 120_000;
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
    assert.equal(broker.get(id)?.state, "expired");
    assert.equal(await broker.wait(id), null);
    assert.equal(await broker.begin(id), false);
  });

  test("comes too late for what was withdrawn (APR-013)", async () => {
    const { id } = await broker.ask(question());
    const waiting = broker.wait(id);
    assert.equal(await broker.withdraw(id, "the turn was stopped"), true);
    assert.equal(await waiting, "deny");
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
    assert.equal(await broker.withdraw(id, "again"), false);
    assert.equal(await broker.begin(id), false);
    assert.equal(heard.at(-1), `resolved ${id} denied deny the turn was stopped`);
  });

  test("comes too late for all a stopped session asked, and for nothing else (APR-013)", async () => {
    const [mine, also] = [await broker.ask(question()), await broker.ask(question())];
    const other = await broker.ask(question({ session: "agent:main:other" }));
    const wire = await broker.ask(question({ origin: "wire" }));
    await broker.answer(also.id, "allow-once", owner);
    assert.equal(await broker.withdrawAll(user.session, "stopped"), 1);
    assert.deepEqual(
      [mine, also, other, wire].map(({ id }) => broker.get(id)?.state),
      ["denied", "allowed", "pending", "pending"],
    );
  });

  test("cannot be for ever where there is no such thing", async () => {
    const { id } = await broker.ask(question({ kind: "config" }));
    assert.equal(await codeOf(broker.answer(id, "allow-always", owner)), "approval.no-always");
    assert.equal((await broker.answer(id, "allow-once", owner)).state, "allowed");
  });

  test("that cannot be written did not happen, and can be given again", async () => {
    let isFull = false;
    const full = new OpenClawError("store.full", "the disk is full");
    const kv: Store["kv"] = {
      ...store.kv,
      set: (...row) => (isFull ? Promise.reject(full) : store.kv.set(...row)),
    };
    await open({ store: { kv } });
    const { id } = await broker.ask(question());
    isFull = true;
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "store.full");
    assert.equal(broker.get(id)?.state, "pending");
    isFull = false;
    assert.equal((await broker.answer(id, "deny", owner)).state, "denied");
  });
});

describe("waiting", () => {
  test("ends with the answer for everybody, and with the signal for one", async () => {
    const { id } = await broker.ask(question());
    const stop = new AbortController();
    const [one, two] = [broker.wait(id), broker.wait(id, stop.signal)];
    stop.abort(new OpenClawError("run.aborted", "stopped"));
    assert.equal(await codeOf(two), "run.aborted");
    assert.equal(broker.get(id)?.state, "pending", "to stop waiting is not to answer");
    await broker.answer(id, "allow-always", owner);
    assert.equal(await one, "allow-always");
    assert.equal(await codeOf(broker.wait("nope")), "approval.unknown");
  });

  test("is null when the time is over", async () => {
    await open({ clock: systemClock });
    const { id } = await broker.ask(question({ timeoutMs: 20 }));
    assert.equal(await broker.wait(id), null);
    assert.equal(heard.at(-1), `resolved ${id} expired - nobody answered in time`);
  });

  test("ends when the house closes, and what waited still waits", async () => {
    const { id } = await broker.ask(question());
    const waiting = codeOf(broker.wait(id));
    broker.close();
    assert.equal(await waiting, "gateway.closing");
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "gateway.closing");
    await restart();
    assert.equal(broker.get(id)?.state, "pending");
  });
});

describe("beginning", () => {
  test("is true once, however many try", async () => {
    const { id } = await broker.ask(question());
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
    assert.equal(await broker.begin(id), false, "an answer is no standing permission (APR-011)");
  });

  test("is for the agent and the session that asked (APR-012)", async () => {
    const { id } = await broker.ask(question());
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
      origin: "house",
      decision: "allow-once",
      ...user,
      body: { argv: ["/usr/bin/uptime", "-p"] },
    });
    assert.equal(await broker.begin(id, user), true);
    assert.equal(broker.grantFor(id, user), undefined);
    assert.deepEqual(broker.grants(), []);
  });

  test("is over when the yes was not used in time", async () => {
    const { id } = await broker.ask(question());
    await broker.answer(id, "allow-once", owner);
    nowMs += 60_000;
    assert.equal(broker.grantFor(id, user), undefined);
    assert.equal(await broker.begin(id, user), false);
    assert.equal(await broker.begin(id), false);
    assert.equal(heard.at(-1), `lapsed ${id} denied allow-once it was allowed, but not begun in time`);
  });

  test("of what never was is no error, and no", async () => {
    assert.deepEqual(
      [await broker.begin("never"), await broker.withdraw("never", "x"), await broker.finish("never")],
      [false, false, undefined],
    );
  });

  test("a denied one never begins", async () => {
    const { id } = await broker.ask(question());
    await broker.answer(id, "deny", owner);
    assert.equal(await broker.begin(id), false);
    assert.deepEqual(broker.grants(), []);
  });
});

describe("after a restart", () => {
  test("what waited still waits, and can be answered and begun", async () => {
    const { id, body } = await broker.ask(question());
    await restart();
    assert.deepEqual(
      broker.pending().map(({ id: mine, body: kept }) => [mine, kept]),
      [[id, body]],
    );
    await broker.answer(id, "allow-once", owner);
    assert.equal(await broker.begin(id), true);
  });

  test("what expired meanwhile is denied and said so", async () => {
    const { id } = await broker.ask(question());
    nowMs += 120_001;
    await restart();
    assert.deepEqual(heard, [`resolved ${id} expired - nobody answered in time`]);
    assert.equal(await codeOf(broker.answer(id, "allow-once", owner)), "approval.unknown");
  });

  test("what was allowed but not begun is denied and said so", async () => {
    const { id } = await broker.ask(question());
    await broker.answer(id, "allow-once", owner);
    await restart();
    const reason = "the gateway ended between the answer and the start; nothing was run";
    assert.deepEqual(heard, [`lapsed ${id} denied allow-once ${reason}`]);
    assert.equal(await broker.begin(id), false);
    await restart();
    assert.deepEqual(heard, [], "said once");
  });

  test("what had begun is not begun again", async () => {
    const { id } = await broker.ask(question());
    await broker.answer(id, "allow-once", owner);
    await broker.begin(id);
    await restart();
    assert.deepEqual(heard, [
      `interrupted ${id} done allow-once the gateway ended while it ran; how it ended is not known`,
    ]);
    assert.equal(await broker.begin(id), false);
  });

  test("who comes after the recovery hears what it closed, and it is counted", async () => {
    const [begun, allowed, waiting] = [
      await broker.ask(question()),
      await broker.ask(question()),
      await broker.ask(question()),
    ];
    for (const { id } of [begun, allowed]) await broker.answer(id, "allow-once", owner);
    await broker.begin(begun.id);
    await restart();
    assert.equal(await broker.recover(), 3);
    const slot: unknown[] = [];
    broker.watch({
      requested: ({ id }) => void slot.push(["requested", id]),
      lapsed: ({ id, body }) => void slot.push(["lapsed", id, body]),
      interrupted: ({ id }) => void slot.push(["interrupted", id]),
    });
    await Promise.resolve();
    const wanted = [
      ["interrupted", begun.id],
      ["lapsed", allowed.id, allowed.body],
    ];
    assert.deepEqual(new Set(slot), new Set(wanted));
    assert.deepEqual(
      broker.pending().map(({ id }) => id),
      [waiting.id],
    );
  });

  test("a row nobody understands counts as denied and is named", async () => {
    await store.kv.set("approvals", "odd", { id: "odd", state: "allowed" });
    await restart();
    assert.deepEqual([broker.pending(), broker.grants(), broker.get("odd")], [[], [], undefined]);
    assert.match(lines.join("\n"), /could not be read; it counts as denied.*odd/);
  });
});

describe("the trail", () => {
  test("keeps who answered what, without secrets and without the plan, up to a number", async () => {
    await open({ keep: 3 });
    const text = "curl -H hunter2-hunter2 https://example.org";
    for (let index = 0; index < 5; index += 1) {
      nowMs += 1;
      const { id } = await broker.ask(
        question({ id: `q-${index}`, card: { title: "Run", text, rows: [] }, body: { text } }),
      );
      assert.equal(broker.get(id)?.card.text, text, "whoever decides sees all of it");
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

test("somebody can be reached when any way says so", () => {
  assert.equal(broker.reachable(), false);
  let isConnected = false;
  const leave = broker.reachBy(() => isConnected);
  assert.equal(broker.reachable(), false);
  isConnected = true;
  assert.equal(broker.reachable(), true);
  leave();
  assert.equal(broker.reachable(), false);
});

test("a listener that fails is logged and keeps nobody from hearing", async () => {
  broker.watch({ requested: () => assert.fail("a bug in a listener") });
  const later: string[] = [];
  broker.watch({ requested: ({ id }) => void later.push(id) });
  const { id } = await broker.ask(question());
  assert.deepEqual(later, [id]);
  assert.match(lines.join("\n"), /a listener of the approvals failed/);
});
