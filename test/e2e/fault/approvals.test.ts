// F33: a process with 50 approvals waiting is killed at any moment; no answer counts twice and nothing is begun twice.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { isApproval, type Approval } from "../../../src/approval/record.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { tempHome } from "../../harness/gateway.ts";

// The full run is 1,000 rounds: OPENCLAW_APPROVAL_ROUNDS=1000.
const rounds = Number(process.env["OPENCLAW_APPROVAL_ROUNDS"] ?? 10);
const deskFile = fileURLToPath(new URL("../../fixtures/approval-broker.ts", import.meta.url));

test(`F33: ${rounds} kills with 50 approvals waiting`, { timeout: 3_600_000 }, async (t) => {
  const folder = tempHome();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, ledger] = [join(folder, "store.sqlite"), join(folder, "ledger.txt")];
  const count = { asked: 0, answered: 0, lapsed: 0, interrupted: 0, leastWaiting: Infinity };
  const answeredIds = new Set<string>();
  // On a busy machine little is begun between a start and its kill: it goes on until much was.
  const isMuch = (): boolean => begunIn(ledger).length > rounds / 2;
  for (let round = 0; round < rounds || (round < rounds * 10 && !isMuch()); round += 1) {
    const said = await oneLife(file, ledger);
    const kept = await keptIn(file);
    const asked = said.filter(([what]) => what === "asked").map(([, id]) => id);
    const answered = said.filter(([what]) => what === "answered");
    assert.deepEqual(
      asked.filter((id) => !kept.has(id ?? "")),
      [],
      "an acknowledged request is there",
    );
    for (const [, id = "", decision] of answered) {
      assert.ok(!answeredIds.has(id), `${id} was answered twice`);
      answeredIds.add(id);
      assert.equal(kept.get(id)?.decision, decision, "the acknowledged answer is the one on disk");
      assert.notEqual(kept.get(id)?.state, "pending");
    }
    count.asked += asked.length;
    count.answered += answered.length;
    count.lapsed += said.filter(([what]) => what === "lapsed").length;
    count.interrupted += said.filter(([what]) => what === "interrupted").length;
    count.leastWaiting = Math.min(count.leastWaiting, [...kept.values()].filter(isWaiting).length);
    for (const id of begunIn(ledger).slice(-20)) mayHaveBegun(kept.get(id));
  }
  const begun = begunIn(ledger);
  const doubles = begun.length - new Set(begun).size;
  t.diagnostic(
    `${rounds} kills, ${count.asked} asked, ${count.answered} answers won, ${begun.length} begun, ${doubles} begun twice, ` +
      `${count.lapsed} cut off between answer and start, ${count.interrupted} while running, never under ${count.leastWaiting} waiting at a kill`,
  );
  assert.equal(doubles, 0);
  assert.ok(isMuch(), "much was begun");
});

const isWaiting = ({ state }: Approval): boolean => state === "pending";

/** What it said before it was killed, in words. */
async function oneLife(file: string, ledger: string): Promise<string[][]> {
  const child = spawn(process.execPath, [deskFile, file, ledger], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes("ready\n")) resolve();
  });
  await Promise.race([ready, once(child, "exit")]);
  await sleep(Math.random() * 80);
  assert.equal(child.exitCode, null, "it lived until it was killed");
  child.kill("SIGKILL");
  await once(child, "close");
  const whole = text.slice(0, text.lastIndexOf("\n"));
  return whole.split("\n").map((line) => line.split(" "));
}

/** Read from the disk, without any of the desk's own repairs. */
async function keptIn(file: string): Promise<Map<string, Approval>> {
  assert.ok(existsSync(dirname(file)));
  const store = await openSqliteStore({ file });
  const rows = await store.kv.list("approvals");
  await store.close();
  return new Map(
    rows.map(({ key, value }) => {
      assert.ok(isApproval(value), `${key} is whole`);
      return [key, value];
    }),
  );
}

/** Only after a yes that came in time. */
function mayHaveBegun(approval: Approval | undefined): void {
  if (approval === undefined) return; // so long ago that it left the trail
  assert.match(approval.decision ?? "", /^allow-/);
  assert.ok((approval.answeredAtMs ?? Infinity) < approval.expiresAtMs);
  assert.match(approval.state, /^(?:started|done)$/);
}

function begunIn(ledger: string): string[] {
  return existsSync(ledger) ? readFileSync(ledger, "utf8").trimEnd().split("\n") : [];
}
