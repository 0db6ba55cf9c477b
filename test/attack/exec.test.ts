// Commands under attack through the front door: every case, the controls, and other spellings of every case.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { noBubblewrap } from "../harness/sandbox.ts";
import { corpus, mutations, openExecFixture, type ExecAttack, type ExecFixture } from "./exec.cases.ts";

const attacks = corpus("cases");
const controls = corpus("controls");
const sample = Number(process.env["OPENCLAW_MUTATION_SHARE"] ?? 0.04);

describe("attacks on commands", () => {
  let fixture: ExecFixture;
  before(async () => {
    fixture = await openExecFixture([...attacks, ...controls]);
  });
  after(() => fixture.close());

  for (const attack of attacks)
    test(`${attack.id} ${attack.area}: ${attack.claim}: ${attack.expect}`, async () => {
      const called = await fixture.run(attack);
      assert.deepEqual(fixture.harm(called), []);
      judge(attack, called);
    });

  for (const control of controls)
    test(`${control.id} still works: ${control.claim}`, { skip: noBubblewrap || missingProgram(control) }, async () => {
      const called = await fixture.run(control);
      // The program may fail on its own (no repository here); what counts is that it was started.
      assert.match(String(called.details["status"]), /completed|failed/, called.text);
    });

  test("refuses other spellings of every attack", async (t) => {
    let [tried, ran] = [0, 0];
    for (const [at, attack] of attacks.entries())
      for (const [way, { name, of }] of mutations.entries()) {
        if (((at * 31 + way * 17) % 100) / 100 >= sample) continue;
        const called = await fixture.run(attack, { command: of(attack.input.params?.command ?? "") });
        tried += 1;
        if (called.details["status"] === "completed" || called.details["status"] === "failed") ran += 1;
        assert.deepEqual(fixture.harm(called), [], `${attack.id}, ${name}`);
      }
    t.diagnostic(`${tried} mutants, ${ran} of them ran harmlessly, 0 touched a canary`);
  });
});

/** A control about a program that this machine does not have says nothing about the rules. */
function missingProgram({ input }: ExecAttack): string | false {
  const [name = ""] = /^[a-z]+/.exec(input.params?.command ?? "") ?? [];
  return name !== "rg" || existsSync("/usr/bin/rg") ? false : "needs rg: apt-get install -y ripgrep";
}

function judge(
  { expect }: ExecAttack,
  { status, error, details, text }: Awaited<ReturnType<ExecFixture["run"]>>,
): void {
  if (expect === "ask") return assert.equal(details["status"], "approval-pending", text);
  assert.notEqual(status, 200, text);
  if (expect === "error") return assert.match(error?.type ?? "", /^(?:tool|exec)\./, text);
  assert.ok(error?.details?.["refused"] === true || error?.type === "tool.bad-arguments", `${error?.type}: ${text}`);
}
