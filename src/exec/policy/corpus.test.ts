// Every attack case and control about command lines, with real programs: analysis and decision together.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { attackCases, controlCases } from "./attack.cases.ts";
import { decide, openPolicyFixture, outcomeOf } from "./fixture.cases.ts";

describe("attack cases", () => {
  const fixture = openPolicyFixture();
  after(() => fixture.close());

  for (const { id, command, rules, expect } of attackCases(fixture)) {
    it(`${id} ${JSON.stringify(command.slice(0, 60))}: ${expect}`, async () => {
      assert.equal(await outcomeOf(command, fixture.context, rules), expect);
    });
  }

  for (const { id, command, rules } of controlCases(fixture)) {
    it(`${id} ${JSON.stringify(command)}: still runs`, async () => {
      const { judgment } = await decide(command, fixture.context, rules);
      assert.deepEqual(
        { outcome: judgment.outcome, reason: judgment.reason },
        { outcome: "run", reason: "every program is allowed" },
      );
    });
  }
});
