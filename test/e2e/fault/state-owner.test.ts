// F5: other processes on the state of a running gateway: second gateways, and every command in a loop, under load.
// The full rounds: OPENCLAW_OWNER_ROUNDS=1000 node --test test/e2e/fault/state-owner.test.ts
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { entries } from "../../../src/cli/commands/index.ts";
import { verifyStore } from "../../../src/store/verify.ts";
import {
  dispose,
  freePort,
  openclaw,
  operator,
  startGateway,
  type Ran,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { textOf as contentText } from "../../../src/core/message.ts";

const rounds = Number(process.env["OPENCLAW_OWNER_ROUNDS"] ?? 4);
const cache = { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache") };

let gateway: TestGateway;
let wires: Wire[] = [];
before(async () => {
  gateway = await startGateway();
  wires = await Promise.all([operator(gateway), operator(gateway)]);
  mkdirSync(gateway.workspace, { recursive: true });
});
after(async () => {
  for (const wire of wires) wire.end();
  await dispose(gateway);
});

const run = (...words: readonly string[]): Promise<Ran> => openclaw(gateway.home, words, cache);

/** What each command is given beside its name. Left out are those that end, replace or wait for the gateway. */
const words: Readonly<Record<string, readonly string[]>> = {
  "config get": ["gateway.port"],
  "config set": ["ui.assistant.name", '"Owner"'],
  "config unset": ["ui.assistant.name"],
  "devices approve": ["00000000-0000-0000-0000-000000000000"],
  "devices reject": ["00000000-0000-0000-0000-000000000000"],
  "gateway call": ["health"],
  "sessions export": ["main"],
  "sessions history": ["main"],
  "store backup": ["$new"],
  "store salvage": ["$new"],
  "tools call": ["agents_list"],
  "tools explain": ["read"],
  completion: ["bash"],
  logs: ["--lines", "5"],
};
const ends =
  /^(?:gateway (?:run|stop|restart)|store restore|chat|agent|configure|dashboard|sandbox recreate|security selftest|approvals set|devices (?:revoke|rotate)|agents delete|sessions replay|models (?:scan|test)|update.*|onboard|setup|node run|daemon.*|memory extra add|.* watch)$/;

interface Load {
  readonly stop: () => Promise<Map<string, string[]>>;
}

/** Notes into ten sessions as fast as the answers come; what was acknowledged is told at the end. */
function startLoad(wire: Wire, name: string): Load {
  const control = new AbortController();
  const notes = new Map<string, string[]>();
  const work = (async () => {
    for (let i = 0; !control.signal.aborted; i++) {
      const key = `agent:main:${name}-${i % 10}`;
      if (!notes.has(key)) await wire.request("sessions.patch", { key, label: key });
      const said = await wire.request("chat.inject", { sessionKey: key, message: `note ${i}` });
      assert.equal(said.ok, true, JSON.stringify(said));
      notes.set(key, [...(notes.get(key) ?? []), `note ${i}`]);
      await sleep(4);
    }
  })();
  return {
    async stop() {
      control.abort();
      await work;
      return notes;
    },
  };
}

async function checkNotes(notes: ReadonlyMap<string, readonly string[]>): Promise<number> {
  let count = 0;
  for (const [sessionKey, wanted] of notes) {
    const { messages } = await (wires[0] as Wire).call("chat.history", { sessionKey, limit: 1000 });
    const found = messages.map(({ content }) => contentText(content));
    assert.deepEqual(found.slice(-Math.min(wanted.length, 200)), wanted.slice(-200), sessionKey);
    count += wanted.length;
  }
  return count;
}

async function requireSound(): Promise<void> {
  const { checks } = await verifyStore(join(gateway.state, "openclaw.sqlite"));
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
}

test(
  `refuses ${rounds} second gateways on the same state, some concurrent, and names the owner`,
  {
    timeout: 300_000 + rounds * 60_000,
  },
  async (t) => {
    const load = startLoad(wires[0] as Wire, "second");
    let refused = 0;
    for (let round = 0; round < rounds; round += 2) {
      const port = String(await freePort());
      const others = await Promise.all([run("gateway", "run"), run("gateway", "run", "--port", port)]);
      for (const { code, stderr, stdout } of others) {
        assert.equal(code, 1, stdout);
        assert.match(stderr, new RegExp(`process ${gateway.pid} already runs on`));
        refused += 1;
      }
      await requireSound();
    }
    const kept = await checkNotes(await load.stop());
    t.diagnostic(
      `${refused} second gateways refused, ${kept} notes acknowledged meanwhile, 0 lost, 0 integrity errors`,
    );
  },
);

// A push takes a third of the commands, another one each time.
const isFull = rounds >= 100;
const passes = isFull ? Math.ceil(rounds / 50) : 1;

test(
  `${isFull ? "every command" : "a third of the commands"} in a loop beside a gateway under load, ${passes} times: nothing breaks`,
  {
    timeout: 900_000 + rounds * 60_000,
  },
  async (t) => {
    const load = startLoad(wires[1] as Wire, "commands");
    const third = Math.floor(Math.random() * 3);
    const commands = entries
      .map(({ path }) => path.join(" "))
      .filter((name, at) => !ends.test(name) && (isFull || at % 3 === third));
    let ran = 0;
    for (let pass = 0; pass < passes; pass++) {
      for (let at = 0; at < commands.length; at += 4) {
        const some = commands.slice(at, at + 4);
        const done = await Promise.all(
          some.map((name) => {
            const given = (words[name] ?? []).map((word) =>
              word === "$new" ? join(gateway.home, `new-${name.replace(" ", "-")}-${pass}`) : word,
            );
            return run(...name.split(" "), ...given);
          }),
        );
        for (const [index, { code, stdout, stderr }] of done.entries()) {
          // Whatever a command thinks of its arguments, it ends by itself and never meets a broken store.
          assert.ok(code === 0 || code === 1 || code === 2, `${some[index]}: ${code} ${stderr}`);
          assert.doesNotMatch(
            `${stdout}${stderr}`,
            /malformed|store\.damaged|disk image|our bug|at file:\/\//,
            `${some[index]}`,
          );
          ran += 1;
        }
      }
      await requireSound();
    }
    const kept = await checkNotes(await load.stop());
    assert.equal(gateway.process.exitCode, null);
    t.diagnostic(
      `${ran} commands of ${commands.length} kinds, ${kept} notes acknowledged meanwhile, 0 lost, 0 integrity errors`,
    );
  },
);
