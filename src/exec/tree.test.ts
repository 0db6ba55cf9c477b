import assert from "node:assert/strict";
import { test } from "node:test";

import type { Process } from "./proc.ts";
import { membersOf } from "./tree.ts";

test("a leader without a real process number matches no process of the machine", () => {
  const one = { start: "1", isDead: false, mark: undefined, isEnvironmentHidden: false };
  const processes: Process[] = [
    { ...one, pid: 1, parent: 0, group: 0, session: 0 },
    { ...one, pid: 2, parent: 1, group: 2, session: 0 },
    { ...one, pid: 3, parent: 2, group: 1, session: 1 },
  ];
  for (const pid of [0, 1, -1, Number.NaN])
    assert.deepEqual(membersOf({ owns: () => false, leaders: [{ pid, isReaped: () => false }] }, processes), []);
});
