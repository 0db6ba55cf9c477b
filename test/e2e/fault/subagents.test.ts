// F25: subagents and talks while everything dies: exactly one end for each, told exactly once.
// Reduced rounds by default; the full run is OPENCLAW_SUBAGENT_ROUNDS=2000 OPENCLAW_SUBAGENT_MANY=1000.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { SessionKey } from "../../../src/core/names.ts";
import { childOf } from "../../../src/session/subagents.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { ChildRecord, Store } from "../../../src/store/store.ts";
import { until } from "../../harness/exec.ts";
import { drop, fail, hang, say, startFakeOpenAI, type Reply } from "../../fakes/openai.ts";
import { operator, startGateway, tempHome, type TestGateway } from "../../harness/gateway.ts";
import {
  callTool,
  lineOf,
  openTwoAgents,
  turnOf,
  twoModels,
  untilSaid,
  type RawMessage,
  type Turn,
} from "../../harness/sessions.ts";

const rounds = Number(process.env["OPENCLAW_SUBAGENT_ROUNDS"] ?? 4);
const many = Number(process.env["OPENCLAW_SUBAGENT_MANY"] ?? 60);
const PARENTS = ["agent:main:main", "agent:main:work", "agent:helper:main"];
const TASKS = ["quick", "slow", "refused", "dropped", "stuck"] as const;
/** Where in the life of a child the gateway is killed. */
const moments = ["spawn", "child", "finish", "announce", "told", "anywhere"] as const;
type Moment = (typeof moments)[number];

test(
  `F25: ${rounds} kills around subagents and session messages lose and repeat no result`,
  { timeout: 7_200_000 },
  async (t) => {
    const home = tempHome();
    let kill: { moment: Moment; now: () => void } | undefined;
    const killAt = (moment: Moment, delayMs = 0): void => {
      if (kill?.moment !== moment) return;
      const { now } = kill;
      kill = undefined;
      if (delayMs === 0) now();
      else setTimeout(now, delayMs);
    };
    const server = await startFakeOpenAI(async (request): Promise<Reply> => {
      const turn = turnOf(request);
      if (turn.text.startsWith("[Subagent]")) {
        killAt("announce");
        killAt("told", Math.random() * 20);
        return say("Noted.");
      }
      if (turn.text.startsWith("[")) return say(turn.text.includes("turn 2") ? "REPLY_SKIP" : "and?");
      killAt("child");
      const reply = await replyOf(turn);
      killAt("finish", Math.random() * 20);
      return reply;
    });
    t.after(async () => {
      await server.close();
      rmSync(home, { recursive: true, force: true });
    });
    const config = twoModels(server, {
      tools: { agentToAgent: { enabled: true, allow: ["*"] } },
      agents: { defaults: { timeoutSeconds: 30 } },
    });
    const accepted = new Map<string, string>();
    const sessionMessages = new Set<string>();
    const start = (): Promise<TestGateway> => startGateway({ home, config });

    for (let round = 0; round < rounds; round += 1) {
      const gateway = await start();
      const moment = moments[round % moments.length] ?? "anywhere";
      const died = new Promise<void>((resolve) => gateway.process.once("exit", () => resolve()));
      const armed = { moment, now: () => gateway.process.kill("SIGKILL") };
      // In every other round of a moment all of them are accepted before it is waited for.
      const isLate = moment !== "spawn" && Math.floor(round / moments.length) % 2 === 0;
      if (!isLate) kill = armed;
      const asked = PARENTS.flatMap((parent) =>
        TASKS.map(async (task) => {
          const args = { task: `${task} ${round}`, ...(task === "stuck" ? { runTimeoutSeconds: 0.3 } : {}) };
          const answer = await answered(callTool(gateway, "sessions_spawn", args, parent));
          if (answer["status"] === "accepted") accepted.set(String(answer["runId"]), parent);
        }),
      );
      const message = { sessionKey: "agent:helper:main", message: `round ${round}`, timeoutSeconds: 0 };
      const sent = answered(callTool(gateway, "sessions_send", message, "agent:main:main")).then(
        ({ status, runId }) => status === "accepted" && sessionMessages.add(String(runId)),
      );
      if (isLate) await Promise.all([...asked, sent]);
      kill = armed;
      if (moment === "spawn") setTimeout(() => killAt("spawn"), Math.random() * 15);
      if (moment === "anywhere") setTimeout(() => killAt("anywhere"), Math.random() * 500);
      await Promise.race([died, sleep(3000)]);
      gateway.process.kill("SIGKILL");
      await Promise.all([...asked, sent, died]);
    }

    kill = undefined;
    const last = await start();
    t.after(() => last.stop("SIGKILL"));
    const wire = await operator(last);
    await until(
      () =>
        withStore(home, async (store) => (await store.children.open()).length + (await store.kv.list("talks")).length),
      (open) => open === 0,
      120_000,
    );
    const rows = await withStore(home, (store) => allChildren(store, [...accepted.keys()]));
    assert.deepEqual(
      rows.filter(({ row }) => row === undefined).map(({ runId }) => runId),
      [],
      "every accepted child is on record",
    );
    const chats = new Map<string, string[]>();
    for (const parent of PARENTS) chats.set(parent, await withStore(home, (store) => wholeChat(store, parent)));
    const tally: Record<string, number> = {};
    for (const { row } of rows) {
      const { requesterKey, childKey, status = "none", state } = row as ChildRecord;
      const lines = (chats.get(requesterKey) ?? []).filter((line) => line.includes(`sessionKey ${childKey}`));
      const notices = lines.filter((line) => line.startsWith("user: [Subagent]")).length;
      const plain = lines.filter((line) => line.startsWith("assistant: Subagent")).length;
      assert.equal(state, "told");
      assert.notEqual(status, "none");
      assert.ok(notices <= 1 && plain <= 1 && notices + plain >= 1, `${childKey}: ${notices} notices, ${plain} plain`);
      tally[status] = (tally[status] ?? 0) + 1;
      if (plain > 0) tally["plain"] = (tally["plain"] ?? 0) + plain;
    }
    const helper = chats.get("agent:helper:main") ?? [];
    const messages = helper.filter((line) => /round \d+\n<\/outside/.test(line) && line.includes("[Message from"));
    assert.equal(
      new Set(messages.map((line) => /round \d+/.exec(line)?.[0])).size,
      messages.length,
      "no message twice",
    );
    assert.ok(messages.length >= sessionMessages.size, "no accepted message is lost");
    wire.end();
    t.diagnostic(
      `${rounds} kills, ${accepted.size} children accepted, ${rows.length} ended once: ${JSON.stringify(tally)}; ${sessionMessages.size} talks accepted, ${messages.length} begun`,
    );
  },
);

/** A request whose answer died with the gateway was not accepted, as far as anybody knows. */
const answered = (asked: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> =>
  asked.catch(() => ({ status: "lost" }));

async function replyOf({ first }: Turn): Promise<Reply> {
  if (first.startsWith("slow")) await sleep(50 + Math.random() * 300);
  if (first.startsWith("refused")) return fail(400, { error: { message: "no" } });
  if (first.startsWith("dropped")) return drop("middle");
  return first.startsWith("stuck") ? hang("after") : say("done");
}

async function withStore<T>(home: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ file: join(home, ".openclaw", "openclaw.sqlite"), readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** From the store: many rounds say more than one answer of the gateway holds. */
async function wholeChat(store: Store, key: string): Promise<string[]> {
  const session = await store.sessions.get(key as SessionKey);
  const entries = await store.transcript.tail(session?.sessionId ?? "", 1_000_000);
  return entries.flatMap(({ type, body }) => (type === "message" ? lineOf(body as RawMessage) : []));
}

/** Those that were accepted, and those whose answer died on its way. */
async function allChildren(store: Store, accepted: readonly string[]) {
  const listed = (await Promise.all(PARENTS.map((key) => store.children.ofRequester(key as never, 1_000_000)))).flat();
  const byRun = new Map(listed.map((row) => [row.runId, row]));
  const ids = new Set([...accepted, ...byRun.keys()]);
  return [...ids].map((runId) => ({ runId, row: byRun.get(runId) }));
}

test(`F25: ${many} concurrent subagents stay within the limit and all report`, { timeout: 3_600_000 }, async (t) => {
  let most = 0;
  let now = 0;
  const agents = await openTwoAgents({ more: { agents: { defaults: { subagents: { maxChildren: many } } } } });
  t.after(() => agents.close());
  agents.play(async (turn) => {
    if (turn.text.startsWith("[Subagent]")) return say("NO_REPLY");
    now += 1;
    most = Math.max(most, now);
    await sleep(5);
    now -= 1;
    return say("done");
  });
  const parents = Array.from({ length: 10 }, (_, index) => `agent:main:parent-${index}`);
  const answers = await Promise.all(
    Array.from({ length: many }, (_, index) =>
      agents.call("sessions_spawn", { task: `piece ${index}` }, parents[index % parents.length]),
    ),
  );
  assert.ok(answers.every(({ status }) => status === "accepted"));
  const state = await until(
    () => withStore(agents.gateway.home, async (store) => (await store.children.open()).length),
    (open) => open === 0,
    600_000,
  );
  assert.equal(state, 0);
  assert.ok(most <= 8, `${most} at the same time`);
  const told = (await Promise.all(parents.map((parent) => agents.history(parent)))).flat();
  assert.equal(told.filter((line) => line.startsWith("user: [Subagent]")).length, many);
});

test("F25: the subagent of a deleted parent ends once, and its result is delivered when the session is back", async (t) => {
  const agents = await openTwoAgents();
  t.after(() => agents.close());
  const { promise, resolve } = Promise.withResolvers<Reply>();
  agents.play((turn) => (turn.text.startsWith("[Subagent]") ? say("It came after all.") : promise));
  const { runId } = await agents.call("sessions_spawn", { task: "find it" }, "agent:main:gone");
  await agents.wire.request("sessions.delete", { key: "agent:main:gone" });
  resolve(say("found"));
  const row = await until(
    () => withStore(agents.gateway.home, (store) => store.children.get(String(runId))),
    (child) => child?.status !== undefined,
  );
  assert.deepEqual(
    { state: row?.state, status: row?.status, text: row === undefined ? "" : childOf(row).body.result?.text },
    { state: "ended", status: "ok", text: "found" },
  );
  await until(
    () => agents.gateway.output(),
    (text) => text.includes("its requester no longer exists"),
  );
  await agents.wire.request("sessions.patch", { key: "agent:main:gone", label: "back" });
  await agents.gateway.stop("SIGKILL");
  const again = await startGateway({ home: agents.gateway.home });
  const wire = await operator(again);
  await untilSaid(wire, "agent:main:gone", /^assistant: It came after all/);
  wire.end();
  await again.stop("SIGKILL");
});

test("F25: archiving a subagent survives a restart, and an orderly end leaves no run open", async (t) => {
  const agents = await openTwoAgents({ more: { agents: { defaults: { subagents: { archiveAfterMinutes: 0.3 } } } } });
  t.after(() => agents.close());
  agents.play((turn) => (turn.first === "stay" ? hang("after") : say(isNotice(turn) ? "told" : "ok")));
  const { childSessionKey: done } = await agents.call("sessions_spawn", { task: "x" });
  await untilSaid(agents.wire, "main", /^assistant: told/);
  const { runId: cut } = await agents.call("sessions_spawn", { task: "stay" });
  const { payload } = await agents.wire.request("sessions.list", { spawnedBy: "agent:main:main" });
  assert.match(JSON.stringify(payload), new RegExp(String(done)));
  const stopped = await Promise.race([agents.gateway.stop("SIGTERM"), sleep(60_000, "still there")]);
  assert.notEqual(stopped, "still there");
  const row = await withStore(agents.gateway.home, (store) => store.children.get(String(cut)));
  assert.equal(row?.state, "running", "its end is told by the next process");

  const again = await startGateway({ home: agents.gateway.home });
  t.after(() => again.stop("SIGKILL"));
  const wire = await operator(again);
  await untilSaid(wire, "main", /Status: unknown[\s\S]*interrupted by a restart/);
  await until(
    async () => JSON.stringify((await wire.request("sessions.list", { spawnedBy: "agent:main:main" })).payload),
    (text) => !text.includes(String(done)),
  );
  wire.end();
});

const isNotice = ({ text }: Turn): boolean => text.startsWith("[Subagent]");
