// A nearly full disk under turns, with and without kill -9: words and answers are stored together with what is recorded of them.
// More rounds: OPENCLAW_FAULT_ROUNDS=400 node --test test/e2e/fault/full-disk.test.ts
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { verifyStore } from "../../../src/store/verify.ts";
import { call, say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";
import { operator, startGateway, tempHome, type Wire } from "../../harness/gateway.ts";
import { chatEnd, messagesOf, startWithModel } from "../../harness/model.ts";
import { mountSmall, rounds } from "../../harness/store.ts";
import { textOf as contentText } from "../../../src/core/message.ts";

const tries = Math.max(2, Math.floor(rounds / 10));
const queue = { messages: { queue: { mode: "followup", debounceMs: 0, cap: 1000 } } };
const exec = { tools: { exec: { host: "gateway", security: "full", ask: "off" } } };
/** The cache of compiled code is elsewhere: it may take all there is, and is not what this is about. */
const env = { XDG_CACHE_HOME: join(tempHome(), "cache") };

test(
  "turns on a nearly full disk wait for space, say so, and end with their messages and answers stored",
  { timeout: 600_000 },
  async (t) => {
    const home = mountSmall(t, "24m");
    if (home === undefined) return;
    const { server } = await openModel(home);
    const gateway = await startWithModel(server, { home, env, more: queue });
    t.after(() => gateway.stop("SIGKILL"));
    const wire = await operator(gateway);
    for (let round = 0; round < tries * 2; round++) {
      const session = `agent:main:a${round}`;
      const [first, second] = [`ID${round}a`, `ID${round}b`];
      await send(wire, session, first);
      await send(wire, session, second);
      await asked(server, first);
      fill(home, (round % 8) * 4096);
      // The second one waits, or still fits; either way it is not failed.
      const seen = new AbortController();
      await Promise.race([
        noticeOf(wire, second, seen.signal),
        noticeOf(wire, first, seen.signal),
        chatEnd(wire, second),
      ]);
      seen.abort();
      rmSync(join(home, "ballast"), { force: true });
      assert.deepEqual([(await chatEnd(wire, first)).state, (await chatEnd(wire, second)).state], ["final", "final"]);
      assert.deepEqual(await wordsOf(wire, session), [
        `user: SAY ${first}`,
        `assistant: ANSWER(${first})`,
        `user: SAY ${second}`,
        `assistant: ANSWER(${second})`,
      ]);
    }
    wire.end();
    assert.equal(await gateway.stop(), 0);
    assert.equal((await verifyStore(join(home, ".openclaw", "openclaw.sqlite"))).ok, true);
  },
);

test(
  "kill -9 on a nearly full disk: no acknowledged turn runs twice or loses its message",
  { timeout: 600_000 },
  async (t) => {
    const home = mountSmall(t, "24m");
    if (home === undefined) return;
    const { server, effects } = await openModel(home);
    let gateway = await startWithModel(server, { home, env, more: { ...queue, ...exec } });
    t.after(() => gateway.stop("SIGKILL"));
    let wire = await operator(gateway);
    for (let round = 0; round < tries; round++) {
      const ids: { readonly id: string; readonly session: string }[] = [];
      for (let turn = 0; turn < 3; turn++)
        for (let session = 0; session < 4; session++) {
          const one = { id: `ID${round}x${session}x${turn}`, session: `agent:main:b${round}x${session}` };
          ids.push(one);
          await send(wire, one.session, one.id, turn % 2 === 0 ? "EXEC" : "SAY");
        }
      await sleep(100 + Math.random() * 300);
      fill(home, (round % 10) * 4096);
      await sleep(Math.random() * 1500);
      await gateway.stop("SIGKILL");
      wire.end();
      rmSync(join(home, "ballast"), { force: true });
      gateway = await startGateway({ home, env });
      wire = await operator(gateway);
      for (const { id } of ids) await wire.request("agent.wait", { runId: id, timeoutMs: 60_000 });
      for (const { id, session } of ids) {
        const lines = await wordsOf(wire, session);
        const count = (line: string): number =>
          lines.filter((one) => one === line || (one.endsWith(` ${id}`) && line === "user")).length;
        const log = join(effects, `${id}.log`);
        const happened = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
        assert.equal(count("user"), 1, `${id}: its words once in ${JSON.stringify(lines)}`);
        assert.ok(count(`assistant: ANSWER(${id})`) <= 1, id);
        assert.ok(happened <= 1, `${id} happened ${happened} times`);
      }
    }
    wire.end();
    assert.equal(await gateway.stop(), 0);
    assert.equal((await verifyStore(join(home, ".openclaw", "openclaw.sqlite"))).ok, true);
  },
);

async function openModel(home: string): Promise<{ readonly server: FakeServer; readonly effects: string }> {
  const effects = join(tempHome(), "effects");
  mkdirSync(effects, { recursive: true });
  assert.ok(!effects.startsWith(home));
  const server = await startFakeOpenAI(async (request) => {
    const messages = messagesOf(request);
    const words = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
    const id = /ID\w+/.exec(words)?.[0] ?? "none";
    if (messages.at(-1)?.role === "user" && words.includes("EXEC"))
      return call("exec", { command: `echo ${id} >> ${effects}/${id}.log` });
    await sleep(100);
    return say(`ANSWER(${id})`);
  });
  after(() => server.close());
  return { server, effects };
}

async function send(wire: Wire, sessionKey: string, id: string, kind = "SAY"): Promise<void> {
  const sent = await wire.request("chat.send", { sessionKey, message: `${kind} ${id}`, idempotencyKey: id });
  assert.equal(sent.ok, true, JSON.stringify(sent));
}

async function asked(server: FakeServer, id: string): Promise<void> {
  while (!server.requests.some(({ body }) => JSON.stringify(body).includes(id))) await sleep(5);
}

/** The status a person sees while a turn waits for space. */
async function noticeOf(wire: Wire, runId: string, over: AbortSignal): Promise<void> {
  const isNotice = ({ event, payload }: { event?: string; payload?: unknown }): boolean => {
    const {
      runId: run,
      stream,
      data,
    } = (payload ?? {}) as { runId?: string; stream?: string; data?: { text?: string } };
    return event === "agent" && run === runId && stream === "notice" && /no space left/.test(data?.text ?? "");
  };
  while (!over.aborted && !wire.frames.some((frame) => isNotice(frame))) await sleep(5);
}

async function wordsOf(wire: Wire, sessionKey: string): Promise<string[]> {
  const { messages } = await wire.call("chat.history", { sessionKey, limit: 1000 });
  return messages.map(({ role, content }) => `${role}: ${contentText(content)}`);
}

/** All but so many bytes. */
function fill(folder: string, leave: number): void {
  const room = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  try {
    while (room() > leave) appendFileSync(join(folder, "ballast"), Buffer.alloc(4096));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  }
}
