import assert from "node:assert/strict";
import { mock, test, type TestContext } from "node:test";

import { OpenClawError } from "../../src/core/error.ts";
import type { ApprovalRequested } from "../../src/protocol/approval.ts";
import { followApprovals } from "./approvals.ts";
import type { Client } from "./client.ts";
import { createStore, firstState } from "./state.ts";

const asked = (id: string, more: Partial<ApprovalRequested> = {}): ApprovalRequested => ({
  id,
  kind: "exec",
  request: {
    command: "make",
    cwd: null,
    host: null,
    security: null,
    ask: null,
    agentId: "main",
    resolvedPath: null,
    sessionKey: null,
  },
  card: { title: "Run a command", text: "make", rows: [] },
  createdAtMs: 1_000_000,
  expiresAtMs: 1_120_000,
  ...more,
});

/** The clock of the gateway is an hour behind; only durations matter. */
function follow(t: TestContext) {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 5_000_000 });
  t.after(() => mock.timers.reset());
  const store = createStore(firstState);
  const listeners = new Map<string, (payload: unknown) => void>();
  let pending: readonly ApprovalRequested[] | OpenClawError = [];
  const client = {
    on(event: string, listener: (payload: unknown) => void) {
      listeners.set(event, listener);
      return () => listeners.delete(event);
    },
    request: () =>
      pending instanceof OpenClawError ? Promise.reject(pending) : Promise.resolve({ now: 1_400_000, pending }),
  } as unknown as Pick<Client, "on" | "request">;
  const end = followApprovals(client, store);
  return {
    end,
    hear: (event: string, payload?: unknown) => listeners.get(event)?.(payload),
    shown: () => store.value.approvals.map(({ id, endsAtMs }) => [id, endsAtMs]),
    connect: async (list: typeof pending): Promise<void> => {
      pending = list;
      store.update({ epoch: store.value.epoch + 1 });
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    },
    listening: () => listeners.size,
  };
}

test("shows an approval until it is answered anywhere or expires by the clock of the browser", (t) => {
  const { hear, shown } = follow(t);
  hear("exec.approval.requested", asked("a"));
  hear("exec.approval.requested", asked("b", { expiresAtMs: 1_030_000 }));
  hear("exec.approval.requested", asked("a"));
  assert.deepEqual(shown(), [
    ["b", 5_030_000],
    ["a", 5_120_000],
  ]);
  mock.timers.tick(30_000);
  assert.deepEqual(shown(), [["a", 5_120_000]]);
  hear("exec.approval.resolved", { id: "never" });
  hear("exec.approval.resolved", { id: "a" });
  assert.deepEqual(shown(), []);
});

test("reads the list again after each connect and gap, and shows no approvals after an error", async (t) => {
  const { hear, shown, connect, end, listening } = follow(t);
  hear("exec.approval.requested", asked("gone"));
  await connect([asked("a", { expiresAtMs: 1_460_000 }), asked("over", { expiresAtMs: 1_399_000 })]);
  assert.deepEqual(shown(), [["a", 5_060_000]]);
  hear("exec.approval.resolved", { id: "a" });
  hear("page.gap");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(shown(), [["a", 5_060_000]]);
  await connect(new OpenClawError("INVALID_REQUEST", "missing scope: operator.approvals"));
  assert.deepEqual(shown(), []);
  end();
  assert.equal(listening(), 0);
});
