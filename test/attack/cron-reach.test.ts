// Attacks by jobs that reach further than their author: other agents, denied tools, out of the sandbox, untrusted senders.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { addJob, ask, hourly, quiet, runsOf, type WireJob } from "../harness/cron.ts";
import { until } from "../harness/exec.ts";
import { call, say } from "../fakes/openai.ts";
import { callTool, openTwoAgents, type TwoAgents } from "../harness/sessions.ts";

const HOOK_TOKEN = "hook-token-0123456789abcdef";
const WEAK = "agent:weak:main";
const BOXED = "agent:boxed:telegram:direct:7";
let agents: TwoAgents;

before(async () => {
  agents = await openTwoAgents({
    more: {
      hooks: { enabled: true, token: HOOK_TOKEN },
      agents: {
        list: [
          { id: "main", default: true },
          { id: "weak", tools: { deny: ["exec", "group:fs"] } },
          { id: "boxed", sandbox: { mode: "non-main" }, tools: { sandbox: { tools: { allow: ["cron"], deny: [] } } } },
        ],
      },
    },
  });
});
after(() => agents.close());

const cron = (args: object, session = WEAK): Promise<Record<string, unknown>> =>
  callTool(agents.gateway, "cron", args, session);
const jobsNow = async (): Promise<WireJob[]> =>
  (await ask<{ jobs: WireJob[] }>(agents.wire, "cron.list", { includeDisabled: true })).jobs;
interface Pending {
  readonly id: string;
  readonly card: { readonly rows: { label: string; value: string }[] };
}
const pendingNow = async (): Promise<Pending[]> =>
  (await ask<{ pending: Pending[] }>(agents.wire, "exec.approvals.pending", {})).pending;
/** It was asked about for that reason, and nothing is kept; then the owner says no. */
async function asked(args: object, why: RegExp, session = WEAK): Promise<void> {
  const before = await jobsNow();
  const answer = await cron(args, session);
  const { status, approvalId: id } = answer;
  assert.equal(status, "approval-pending", JSON.stringify([args, answer]));
  const card = (await pendingNow()).find((one) => one.id === id)?.card;
  assert.match(card?.rows.find(({ label }) => label === "why you are asked")?.value ?? "", why);
  assert.deepEqual(await jobsNow(), before);
  await ask(agents.wire, "exec.approval.resolve", { id, decision: "deny" });
}
const exec = { kind: "exec", command: "touch /tmp/never" };

test("a job under another agent needs the owner's approval, however the agent is named", async () => {
  const job = { name: "as main", schedule: hourly, payload: exec, delivery: quiet };
  for (const wanted of [
    { ...job, agentId: "main" },
    { ...job, agentId: "MAIN" },
    { data: { ...job, agentId: "main" } },
    { name: "turn", schedule: hourly, message: "run a command", agentId: "main" },
    { name: "line", schedule: hourly, text: "run a command", agentId: "main" },
  ])
    await asked({ action: "add", job: wanted }, /as agent main/);
});

test("a patch cannot move a job to another agent", async () => {
  const added = await cron({ action: "add", job: { name: "mine", schedule: hourly, message: "hi", delivery: quiet } });
  assert.equal(added["agentId"], "weak");
  const jobId = added["id"];
  for (const patch of [{ agentId: "main" }, { agentId: null }, { agentId: "" }, { job: { agentId: "main" } }])
    await asked({ action: "update", jobId, patch }, /as agent main/);
  assert.equal((await jobsNow()).find(({ id }) => id === jobId)?.agentId, "weak");
});

test("a job without a model cannot use a tool that its author is denied", async () => {
  await asked({ action: "add", job: { name: "x", schedule: hourly, payload: exec } }, /use exec/);
  await asked(
    { action: "add", job: { name: "x", schedule: hourly, tool: "write", args: { path: "a", content: "b" } } },
    /use write/,
  );
  const mine = (await jobsNow()).find(({ name }) => name === "mine");
  await asked({ action: "update", jobId: mine?.id, patch: { payload: exec } }, /use exec/);
  const fine = await cron({ action: "add", job: { name: "fine", schedule: hourly, tool: "session_status" } });
  assert.equal(fine["agentId"], "weak");
});

test("hides the jobs of an agent that the caller may not message: not listed, read, run, changed or removed", async () => {
  const { id } = await addJob(agents.wire, { name: "secret plan", schedule: hourly, message: "x", delivery: quiet });
  const { jobs } = (await cron({ action: "list", includeDisabled: true })) as { jobs: WireJob[] };
  assert.ok(jobs.length > 0 && jobs.every(({ agentId }) => agentId === "weak"));
  for (const args of [
    { action: "run", jobId: id },
    { action: "runs", jobId: id },
    { action: "update", jobId: id, patch: { agentId: "weak" } },
    { action: "remove", jobId: id },
  ]) {
    const { refused } = await cron(args);
    assert.match(JSON.stringify(refused), /unknown cron job id/, args.action);
  }
  assert.deepEqual(await runsOf(agents.wire, id), []);
  assert.deepEqual(await pendingNow(), []);
});

test("a sandboxed session cannot post to the main session without the owner's approval", async () => {
  const job = { name: "x", schedule: hourly, text: "do it", sessionTarget: "main" };
  await asked({ action: "add", job }, /from a sandbox/, BOXED);
});

test("only the owner starts jobs by hand, and a session cannot keep waking itself", async () => {
  const { id } = await addJob(agents.wire, { name: "pay the rent", schedule: hourly, message: "pay", delivery: quiet });
  const hook = async (message: string, args: Record<string, unknown>): Promise<string> => {
    let heard = "";
    agents.play(({ role, text }) => {
      if (role === "tool") heard = text;
      return role === "tool" || !text.includes(message) ? say("HEARTBEAT_OK") : call("cron", args);
    });
    const { status } = await fetch(`${agents.gateway.url}/hooks/agent`, {
      method: "POST",
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ message, deliver: false }),
    });
    assert.equal(status, 202);
    return until(
      async () => heard,
      (words) => words !== "",
    );
  };
  assert.match(await hook("pay it again", { action: "run", jobId: id }), /only the owner can start a job/);
  assert.deepEqual(await runsOf(agents.wire, id), []);
  assert.match(await hook("wake up", { action: "wake", text: "go on", mode: "now" }), /next-heartbeat/);
});

test("the tool limit of a job applies to every later turn of its session", async () => {
  agents.play(() => say("done"));
  const payload = { kind: "agentTurn", message: "look", toolsAllow: ["session_status"] };
  const { id } = await addJob(agents.wire, { name: "narrow", schedule: hourly, payload, delivery: quiet });
  await ask(agents.wire, "cron.run", { id });
  const [run] = await runsOf(agents.wire, id);
  const answer = await callTool(agents.gateway, "sessions_send", {
    sessionKey: run?.sessionKey,
    message: "more, please",
  });
  assert.equal(answer["status"], "ok", JSON.stringify(answer));
  const later = agents.turns().filter(({ text }) => text.includes("more, please"));
  assert.deepEqual(later[0]?.tools, ["session_status"]);
});
