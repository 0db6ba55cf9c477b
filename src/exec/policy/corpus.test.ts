// Every attack case and control about command lines, against real programs: analysis and judgement together.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { attackCases, controlCases } from "./attack.cases.ts";
import { decide, openGround, outcomeOf } from "./fixture.cases.ts";

describe("attack cases", () => {
  const ground = openGround();
  after(() => ground.close());

  for (const { id, command, rules, expect } of attackCases(ground)) {
    it(`${id} ${JSON.stringify(command.slice(0, 60))}: ${expect}`, async () => {
      assert.equal(await outcomeOf(command, ground.place, rules), expect);
    });
  }

  for (const { id, command, rules } of controlCases(ground)) {
    it(`${id} ${JSON.stringify(command)}: still runs`, async () => {
      const { judgement } = await decide(command, ground.place, rules);
      assert.deepEqual(
        { outcome: judgement.outcome, reason: judgement.reason },
        { outcome: "run", reason: "every program is allowed" },
      );
    });
  }
});
