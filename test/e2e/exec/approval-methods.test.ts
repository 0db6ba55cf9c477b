// Approvals through the front door: asked, shown, answered and used up, by clients that may and clients that may not.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import {
  detailsOf,
  dispose,
  operator,
  startGateway,
  tempHome,
  type Frame,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";

const recorded = {
  command: "rm -i /tmp/zzz",
  cwd: "/tmp",
  host: "gateway",
  security: "allowlist",
  ask: "always",
  agentId: "main",
  sessionKey: "agent:main:main",
};

interface Asked {
  readonly id: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly request: Record<string, unknown>;
  readonly card: {
    readonly text: string;
    readonly rows: readonly { readonly label: string; readonly value: string }[];
  };
}

/** The first of these events that fits; they may have come already. */
async function heard(wire: Wire, event: string, id: string): Promise<Record<string, unknown> & Asked> {
  const until = Date.now() + 60_000;
  for (;;) {
    const frame = wire.frames.find((known) => known.event === event && (known.payload as Asked).id === id);
    if (frame !== undefined) return frame.payload as Record<string, unknown> & Asked;
    if (Date.now() > until) throw new Error(`no ${event} of ${id}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const payloadOf = (frame: Frame): Record<string, unknown> => {
  assert.equal(frame.ok, true, JSON.stringify(frame.error));
  return frame.payload as Record<string, unknown> & Asked;
};

const countOf = (wire: Wire, event: string): number => wire.frames.filter((frame) => frame.event === event).length;

describe("approvals over the wire", () => {
  let gateway: TestGateway;
  let asker: Wire;
  let approver: Wire;
  let reader: Wire;

  before(async () => {
    gateway = await startGateway();
    asker = await operator(gateway, { scopes: ["operator.approvals"] });
    approver = await operator(gateway, {
      scopes: ["operator.approvals"],
      client: { id: "openclaw-macos", mode: "ui" },
    });
    reader = await operator(gateway, { scopes: ["operator.write", "operator.pairing"] });
  });

  after(() => dispose(gateway));

  test("a request blocks until it is answered; both events have the recorded shape", async () => {
    const answer = asker.request("exec.approval.request", { ...recorded, id: "wire-recorded", timeoutMs: 9000 });
    const { card, kind, ...asked } = await heard(approver, "exec.approval.requested", "wire-recorded");
    assert.deepEqual(asked, {
      id: "wire-recorded",
      request: { ...recorded, resolvedPath: null },
      createdAtMs: asked.createdAtMs,
      expiresAtMs: asked.createdAtMs + 9000,
    });
    assert.deepEqual(
      [kind, card],
      [
        "exec",
        {
          title: "Run a command",
          text: "rm -i /tmp/zzz",
          rows: [
            { label: "asked by", value: "gateway-client (not checked by the gateway)" },
            { label: "folder", value: "/tmp" },
            { label: "host", value: "gateway" },
            { label: "agent", value: "main" },
            { label: "session", value: "agent:main:main" },
            { label: "rules", value: "allowlist, ask always" },
          ],
        },
      ],
    );
    assert.deepEqual(
      payloadOf(await approver.request("exec.approval.resolve", { id: asked.id, decision: "allow-once" })),
      {
        ok: true,
      },
    );
    assert.deepEqual(payloadOf(await answer), {
      id: "wire-recorded",
      decision: "allow-once",
      createdAtMs: asked.createdAtMs,
      expiresAtMs: asked.expiresAtMs,
    });
    const resolved = await heard(asker, "exec.approval.resolved", "wire-recorded");
    assert.deepEqual(resolved, {
      id: "wire-recorded",
      kind: "exec",
      decision: "allow-once",
      resolvedBy: "openclaw-macos",
      ts: resolved["ts"],
    });
  });

  test("null stands for unknown fields; the command alone is enough", async () => {
    const nulls = Object.fromEntries(Object.keys(recorded).map((key) => [key, null]));
    const answer = asker.request("exec.approval.request", { ...nulls, command: "uptime", id: "wire-nulls" });
    await heard(approver, "exec.approval.requested", "wire-nulls");
    await approver.request("exec.approval.resolve", { id: "wire-nulls", decision: "deny" });
    assert.equal(payloadOf(await answer)["decision"], "deny");
    const bare = await asker.request("exec.approval.request", { cwd: "/tmp" });
    assert.match(bare.error?.message ?? "", /^invalid exec\.approval\.request params: must have required property/);
    const zero = await asker.request("exec.approval.request", { command: "x", timeoutMs: 0 });
    assert.match(zero.error?.message ?? "", /timeoutMs/);
  });

  test("without an answer the decision is null, no event is sent, and a late answer is unknown (APR-013)", async () => {
    const answer = payloadOf(
      await asker.request("exec.approval.request", { ...recorded, id: "wire-late", timeoutMs: 60 }),
    );
    assert.equal(answer["decision"], null);
    const slot = await approver.request("exec.approval.resolve", { id: "wire-late", decision: "allow-once" });
    assert.deepEqual([slot.error?.code, slot.error?.message], ["INVALID_REQUEST", "unknown approval id"]);
    assert.equal(
      approver.frames.some(
        (frame) => frame.event === "exec.approval.resolved" && (frame.payload as Asked).id === "wire-late",
      ),
      false,
    );
  });

  test("rejects wrong decisions and unknown ids, accepts short ids, and counts only the first answer (APR-014)", async () => {
    const resolve = (wire: Wire, id: string, decision: string): Promise<Frame> =>
      wire.request("exec.approval.resolve", { id, decision });
    assert.equal((await resolve(approver, "no-such-id", "deny")).error?.message, "unknown approval id");
    const answer = asker.request("exec.approval.request", { ...recorded, id: "12345678-abcd" });
    await heard(approver, "exec.approval.requested", "12345678-abcd");
    assert.equal((await resolve(approver, "12345678-abcd", "maybe")).error?.message, "invalid decision");
    const missing = await approver.request("exec.approval.resolve", { __bad: 1 });
    assert.equal(
      missing.error?.message,
      "invalid exec.approval.resolve params: must have required property 'id'; must have required property 'decision'; at root: unexpected property '__bad'",
    );
    const both = await Promise.all([
      resolve(approver, "12345678", "deny"),
      resolve(asker, "12345678-abcd", "allow-once"),
    ]);
    assert.deepEqual(new Set(both.map(({ ok }) => ok)), new Set([false, true]));
    assert.equal(both.find(({ ok }) => ok !== true)?.error?.message, "unknown approval id");
    const won = both[0]?.ok === true ? "deny" : "allow-once";
    assert.equal(payloadOf(await answer)["decision"], won);
  });

  test("clients without the approvals scope cannot receive, request, list or answer approvals, not even through the chat (APR-017)", async () => {
    const before = countOf(reader, "exec.approval.requested");
    const answer = asker.request("exec.approval.request", { ...recorded, id: "wire-scope-1" });
    await heard(approver, "exec.approval.requested", "wire-scope-1");
    for (const [method, params] of [
      ["exec.approval.request", { command: "x" }],
      ["exec.approval.resolve", { id: "wire-scope-1", decision: "allow-once" }],
      ["exec.approvals.pending", {}],
    ] as const)
      assert.equal((await reader.request(method, params)).error?.message, "missing scope: operator.approvals", method);
    assert.match(await saidTo(reader, "/approve wire-scope-1 allow-once"), /You may not answer approvals here/);
    const node = await operator(gateway, { role: "node", scopes: [], client: { id: "node-host", mode: "node" } });
    const refused = await node.request("exec.approval.resolve", { id: "wire-scope-1", decision: "allow-once" });
    assert.equal(refused.error?.message, "unauthorized role: node");
    assert.equal(countOf(reader, "exec.approval.requested"), before);
    const speaker = await operator(gateway, { scopes: ["operator.write", "operator.approvals"] });
    assert.match(await saidTo(speaker, "/approve wire-scope-1 deny"), /Approval wire-sco: denied\./);
    assert.equal(payloadOf(await answer)["decision"], "deny");
    assert.equal(countOf(reader, "exec.approval.resolved"), 0);
  });

  test("the list shows pending approvals; the history shows who decided", async () => {
    const answer = asker.request("exec.approval.request", { ...recorded, id: "wire-list-1" });
    await heard(approver, "exec.approval.requested", "wire-list-1");
    const listed = payloadOf(await approver.request("exec.approvals.pending", {})) as {
      pending: Asked[];
      now: number;
    };
    assert.deepEqual(
      listed.pending.map(({ id }) => id),
      ["wire-list-1"],
    );
    assert.ok(Math.abs(listed.now - Date.now()) < 60_000);
    await approver.request("exec.approval.resolve", { id: "wire-list-1", decision: "deny" });
    await answer;
    const after = payloadOf(await approver.request("exec.approvals.pending", { recent: 1 })) as {
      pending: Asked[];
      recent: Record<string, unknown>[];
    };
    assert.deepEqual(after.pending, []);
    const [last] = after.recent;
    assert.deepEqual(
      [
        last?.["id"],
        last?.["state"],
        last?.["decision"],
        (last?.["answeredBy"] as Record<string, unknown> | undefined)?.["clientId"],
      ],
      ["wire-list-1", "denied", "deny", "openclaw-macos"],
    );
  });

  test("an id belongs to one request: the same request may ask again, another may not (APR-011)", async () => {
    const first = asker.request("exec.approval.request", { ...recorded, id: "wire-same-1" });
    await heard(approver, "exec.approval.requested", "wire-same-1");
    const again = asker.request("exec.approval.request", { ...recorded, id: "wire-same-1" });
    const other = await asker.request("exec.approval.request", { ...recorded, command: "rm -rf /", id: "wire-same-1" });
    assert.deepEqual([other.error?.code, detailsOf(other)["code"]], ["INVALID_REQUEST", "approval.id-taken"]);
    await approver.request("exec.approval.resolve", { id: "wire-same-1", decision: "allow-once" });
    assert.deepEqual(
      [payloadOf(await first)["decision"], payloadOf(await again)["decision"]],
      ["allow-once", "allow-once"],
    );
  });

  test("text of a client is shown in full and escaped, or not asked about (APR-019, APR-020, APR-021)", async () => {
    const long = await asker.request("exec.approval.request", { command: `echo ${"x".repeat(100_000)}; rm -rf ~` });
    assert.equal(detailsOf(long)["code"], "approval.too-long");
    const answer = asker.request("exec.approval.request", {
      ...recorded,
      id: "wire-hidden",
      command: "ls \u202e\u200b\u3164\u001b[2K\r",
      agentId: "ma\u200bin",
    });
    const { card, request } = await heard(approver, "exec.approval.requested", "wire-hidden");
    assert.equal(card.text, "ls \\u{202e}\\u{200b}\\u{3164}\\u{1b}[2K\\u{d}");
    assert.equal(request["command"], card.text);
    assert.equal(request["agentId"], "ma\\u{200b}in");
    await approver.request("exec.approval.resolve", { id: "wire-hidden", decision: "deny" });
    await answer;
  });

  test("a client that disconnects leaves the request to the others, without an error in the log", async () => {
    const leaving = await operator(gateway, { scopes: ["operator.approvals"] });
    void leaving.request("exec.approval.request", { ...recorded, id: "wire-gone-1" });
    await heard(approver, "exec.approval.requested", "wire-gone-1");
    leaving.end();
    const answered = await approver.request("exec.approval.resolve", { id: "wire-gone-1", decision: "deny" });
    assert.equal(answered.ok, true);
    assert.doesNotMatch(gateway.output(), /unexpected failure/);
  });

  /** The gateway's answer to a message. */
  async function saidTo(wire: Wire, message: string): Promise<string> {
    const end = await chat(wire, "agent:main:main", message, `say ${message}`);
    return textOf(end) || (end.errorMessage ?? "");
  }
});

test("pending approvals survive kill -9; the first answer afterwards wins; an allowed command does not start again (F33)", async () => {
  const home = tempHome();
  try {
    const first = await startGateway({ home });
    const wire = await operator(first, { scopes: ["operator.approvals"] });
    const ids = Array.from({ length: 50 }, (_, index) => `kept-${String(index).padStart(2, "0")}-id`);
    for (const id of ids) void wire.request("exec.approval.request", { ...recorded, id });
    await heard(wire, "exec.approval.requested", "kept-49-id");
    await wire.request("exec.approval.resolve", { id: "kept-00-id", decision: "allow-once" });
    await first.stop("SIGKILL");

    const second = await startGateway({ home });
    const next = await operator(second, { scopes: ["operator.approvals"] });
    const { pending, recent } = payloadOf(await next.request("exec.approvals.pending", { recent: 5 })) as {
      pending: Asked[];
      recent: { id: string; state: string; decision: string; reason: string }[];
    };
    assert.deepEqual(pending.map(({ id }) => id).toSorted(), ids.slice(1));
    assert.deepEqual(
      recent.map(({ id, state, decision, reason }) => [id, state, decision, reason]),
      [["kept-00-id", "denied", "allow-once", "the gateway stopped between the answer and the start; nothing was run"]],
    );
    // The one who asked comes back and waits on.
    const back = next.request("exec.approval.request", { ...recorded, id: "kept-01-id" });
    const answers = await Promise.all(
      ["allow-once", "deny"].map((decision) => next.request("exec.approval.resolve", { id: "kept-01-id", decision })),
    );
    assert.deepEqual(new Set(answers.map(({ ok }) => ok)), new Set([false, true]));
    assert.equal(payloadOf(await back)["decision"], answers[0]?.ok === true ? "allow-once" : "deny");
    await second.stop("SIGKILL");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
