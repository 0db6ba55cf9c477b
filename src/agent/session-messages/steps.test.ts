// The steps of an exchange: they come in order, end, and have one id each.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { SessionKey } from "../../core/names.ts";
import { nextStep, stepSession, stepTurn, type StepEnd, type Exchange } from "./steps.ts";

const requester = "agent:main:main" as SessionKey;
const target = "agent:helper:main" as SessionKey;
const newTalk = (changes: Partial<Exchange> = {}): Exchange => ({
  id: "t",
  requester,
  target,
  message: "hi",
  maxTurns: 5,
  turn: 0,
  announcing: false,
  at: 1,
  ...changes,
});
const ok = (text: string): StepEnd => ({ status: "ok", text, silent: false });
const skip: StepEnd = { status: "ok", text: "", silent: true };

test("alternates replies of target and requester, and the target announces", () => {
  const names: string[] = [];
  let exchange: Exchange | undefined = newTalk({ maxTurns: 2 });
  for (let step = 0; exchange !== undefined; step += 1) {
    names.push(`${stepTurn(exchange).runId} ${stepSession(exchange)}`);
    exchange = nextStep(exchange, ok(`reply ${step}`));
  }
  assert.deepEqual(names, [`t ${target}`, `t:1 ${requester}`, `t:2 ${target}`, `t:announce ${target}`]);
});

test("passes the request, the first and the latest reply to the announce step", () => {
  const first = nextStep(newTalk({ maxTurns: 1 }), ok("one"));
  const second = first === undefined ? undefined : nextStep(first, ok("two"));
  assert.deepEqual(second, newTalk({ maxTurns: 1, turn: 1, announcing: true, firstReply: "one", lastReply: "two" }));
});

test("ends the replies after silence, and the exchange after a failed first reply", () => {
  assert.equal(nextStep(newTalk({ turn: 2, firstReply: "a" }), skip)?.announcing, true);
  assert.equal(nextStep(newTalk({ maxTurns: 0 }), ok("a"))?.announcing, true);
  assert.equal(nextStep(newTalk(), { status: "error", text: "", silent: false }), undefined);
});

test("ends any exchange after maxTurns + 2 steps with unique step ids", () => {
  const anyEnd = fc.record<StepEnd>({
    status: fc.constantFrom("ok", "error", "aborted"),
    text: fc.string(),
    silent: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5 }), fc.array(anyEnd, { minLength: 8, maxLength: 8 }), (maxTurns, ends) => {
      const names = new Set<string>();
      let exchange: Exchange | undefined = newTalk({ maxTurns });
      for (const end of ends) {
        if (exchange === undefined) break;
        const { runId, sessionKey, authorised } = stepTurn(exchange);
        assert.ok(!names.has(runId) && !authorised && [requester, target].includes(sessionKey));
        names.add(runId);
        exchange = nextStep(exchange, end);
      }
      assert.ok(exchange === undefined && names.size <= maxTurns + 2);
    }),
  );
});
