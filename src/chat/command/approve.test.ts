import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { AgentId } from "../../core/names.ts";
import type { ClientAskRequest } from "../../approval/broker.ts";
import type { ApprovalHandler } from "../../approval/handler.ts";
import type { Config } from "../../config/schema/index.ts";
import { createIsUrgent } from "../direct.ts";
import { approvalText } from "../approval-text.ts";
import { NOW, openChat, turn } from "../fixture.cases.ts";

const page = { approver: { clientId: "openclaw-control-ui", surface: "webchat" } };
const withoutApprover = { approver: undefined };
const telegram = { source: "telegram", approver: { clientId: "telegram", surface: "chat", sender: "telegram:42" } };

const main = { agent: "main", session: "agent:main:main" };

/** Asks as a part of the gateway would; the tests do not allow any of it. */
const handler: ApprovalHandler<string> = {
  name: "config",
  kind: "config",
  canAllowAlways: false,
  card: (text) => ({ title: "Change the config", text, rows: [] }),
  recheck: async () => {},
  run: () => assert.fail("not allowed by any test"),
  denied: async () => {},
  interrupted: async () => {},
};

const question = (id: string, more: Partial<ClientAskRequest> = {}): ClientAskRequest => ({
  id,
  kind: "exec",
  agent: "main",
  session: "agent:main:main",
  body: {},
  card: {
    title: "Run a command",
    text: "make clean",
    rows: [{ label: "Folder", value: "/ws" }],
    always: "/usr/bin/make",
  },
  ...more,
});

describe("/approve", () => {
  test("answers by the whole id or its beginning, with common words", async () => {
    const chat = await openChat();
    const words = ["allow-once", "ONCE", "allow", "yes", "allow-always", "always", "deny", "reject", "No"];
    const outcomes: unknown[] = [];
    for (const [index, word] of words.entries()) {
      const { id } = await chat.approvals.askForClient(question(`${index}1111111-22`));
      const answer = await chat.answer(`/approve ${index % 2 === 0 ? id : id.slice(0, 8)} ${word}`, page);
      outcomes.push([answer, chat.approvals.get(id)?.decision, chat.approvals.get(id)?.answeredBy]);
    }
    const once = (index: number) => [`Approval ${index}1111111: allowed once.`, "allow-once", page.approver];
    const always = (index: number) => [`Approval ${index}1111111: always allowed.`, "allow-always", page.approver];
    const deny = (index: number) => [`Approval ${index}1111111: denied.`, "deny", page.approver];
    assert.deepEqual(outcomes, [...[0, 1, 2, 3].map(once), ...[4, 5].map(always), ...[6, 7, 8].map(deny)]);
  });

  test("shows its usage, the waiting approvals, and unknown ids", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/approve", page), "No approval is waiting.");
    assert.match(await chat.answer("/approve nope allow-once", page), /No approval "nope" is waiting; nothing was/);
    const { id } = await chat.approvals.askForClient(question("aaaaaaaa-1"));
    assert.match(await chat.answer(`/approve ${id}`, page), /^Usage.*One approval is waiting/);
    assert.match(await chat.answer(`/approve ${id} maybe`, page), /^Usage/);
    assert.match(await chat.answer(`/approve ${id} deny now`, page), /^Usage/);
    assert.equal(
      await chat.answer("/approve", page),
      [
        "Approval aaaaaaaa: Run a command. Expires in 120 s.",
        "```",
        "make clean",
        "",
        "Folder: /ws",
        "Always would cover: /usr/bin/make",
        "```",
        "/approve aaaaaaaa allow-once|allow-always|deny",
        "(whole id: aaaaaaaa-1)",
      ].join("\n"),
    );
    await chat.answer(`/approve ${id} deny`, page);
    assert.match(await chat.answer(`/approve ${id} allow-once`, page), /No approval "aaaaaaaa-1" is waiting/);
    assert.equal(chat.approvals.get(id)?.decision, "deny");
  });

  test("requires the right to approve, not only the right to write (APR-017)", async () => {
    const chat = await openChat();
    const { id } = await chat.approvals.askForClient(question("aaaaaaaa-1"));
    assert.match(await chat.answer(`/approve ${id} allow-once`, withoutApprover), /You may not answer approvals here/);
    assert.match(await chat.answer("/approve", withoutApprover), /You may not answer approvals here/);
    const plain = `/approve ${id} allow-once`;
    assert.deepEqual(
      await chat.say(plain, { ...page, authorised: false }),
      turn(plain),
      "plain text for an unauthorized sender",
    );
    assert.equal(chat.approvals.get(id)?.state, "pending");
  });

  test("limits a chat sender to the agent of that chat (APR-012)", async () => {
    const chat = await openChat();
    await chat.approvals.askForClient(question("bbbbbbbb-1", { agent: "work", session: "agent:work:main" }));
    assert.match(await chat.answer("/approve bbbbbbbb-1 allow-once", telegram), /No approval "bbbbbbbb-1" is waiting/);
    assert.equal(await chat.answer("/approve", telegram), "No approval is waiting.");
    assert.equal(chat.approvals.get("bbbbbbbb-1")?.state, "pending");
    const work = { ...telegram, agentId: "work" as AgentId };
    assert.match(await chat.answer("/approve bbbbbbbb-1 allow-once", work), /allowed once/);
  });

  test("is rejected after /stop and /new (APR-013)", async () => {
    const chat = await openChat({ models: ["openai/mini"] });
    chat.approvals.register("config", async () => handler);
    for (const [id, stop, said] of [
      ["aaaaaaaa-1", "/stop", "Withdrew 1 approval."],
      ["bbbbbbbb-1", "stop", "Withdrew 1 approval."],
    ] as const) {
      await chat.approvals.ask(handler, "make clean", { id, ...main, body: {} });
      assert.equal(await chat.answer(stop, page), said);
      assert.match(await chat.answer(`/approve ${id} allow-once`, page), /No approval/);
      assert.equal(await chat.approvals.begin(id), false);
    }
    await chat.approvals.ask(handler, "make clean", { id: "cccccccc-1", ...main, body: {} });
    await chat.say("/new", page);
    assert.equal(chat.approvals.get("cccccccc-1")?.reason, "a new session was started");
    assert.equal(await chat.answer("/stop", page), "Nothing is running here.");
  });

  test("does not wait for a run, because the run may wait for it", () => {
    const isUrgent = createIsUrgent({ config: (): Config => ({}) });
    assert.equal(isUrgent("/approve aaaaaaaa deny", { authorised: true, source: "chat" }), true);
    assert.equal(isUrgent("/approve aaaaaaaa deny", { authorised: false, source: "chat" }), false);
  });
});

describe("approval message", () => {
  test("keeps the command inside its fence (APR-022)", async () => {
    const chat = await openChat();
    const text = "echo '```'\n````\n@everyone **click here** [ok](https://evil.example)";
    const approval = await chat.approvals.askForClient(
      question("aaaaaaaa", { card: { title: "Run `x`\n# big", text, rows: [] } }),
    );
    assert.equal(
      approvalText(approval, NOW),
      [
        "Approval aaaaaaaa: Run  x  # big. Expires in 120 s.",
        "```",
        "echo '\\u{60}\\u{60}\\u{60}'",
        "\\u{60}\\u{60}\\u{60}\\u{60}",
        "@everyone **click here** [ok](https://evil.example)",
        "```",
        "/approve aaaaaaaa allow-once|deny",
      ].join("\n"),
    );
  });

  test("is complete or not sent (APR-019)", async () => {
    const chat = await openChat();
    const card = { title: "Run a command", text: `echo ${"x".repeat(5_000)}; rm -rf ~`, rows: [] };
    const approval = await chat.approvals.askForClient(question("aaaaaaaa-1", { card }));
    assert.equal(approvalText(approval, NOW), undefined);
    assert.match(await chat.answer("/approve", page), /too long for a message/);
  });

  test("does not offer allow-always for a config change", async () => {
    const chat = await openChat();
    chat.approvals.register("config", async () => handler);
    const approval = await chat.approvals.ask(handler, "- a\n+ b", { id: "cccccccc-1", ...main, body: {} });
    assert.match(approvalText(approval, NOW) ?? "", /\/approve cccccccc allow-once\|deny\n/);
    assert.match(await chat.answer("/approve cccccccc always", page), /this can be allowed once or denied/);
  });
});
