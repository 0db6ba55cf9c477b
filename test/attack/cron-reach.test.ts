// Attacks by jobs that reach further than who asks for them: other agents, denied tools, out of the sandbox, by strangers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { addJob, ask, hourly, quiet, runsOf, type WireJob } from "../harness/cron.ts";
import { until } from "../harness/exec.ts";
import { call, say } from "../fakes/openai.ts";
import { callTool, openStage, type Stage } from "../harness/sessions.ts";

const HOOK_TOKEN = "hook-token-0123456789abcdef";
const WEAK = "agent:weak:main";
const BOXED = "agent:boxed:telegram:direct:7";
let stage: Stage;

before(async () => {
  stage = await openStage({
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
after(() => stage.close());

const cron = (args: object, session = WEAK): Promise<Record<string, unknown>> =>
  callTool(stage.gateway, "cron", args, session);
const jobsNow = async (): Promise<WireJob[]> =>
  (await ask<{ jobs: WireJob[] }>(stage.wire, "cron.list", { includeDisabled: true })).jobs;
interface Pending {
  readonly id: string;
  readonly card: { readonly rows: { label: string; value: string }[] };
}
const pendingNow = async (): Promise<Pending[]> =>
  (await ask<{ pending: Pending[] }>(stage.wire, "exec.approvals.pending", {})).pending;
/** It was asked about for that reason, and nothing is kept; then the owner says no. */
async function asked(args: object, why: RegExp, session = WEAK): Promise<void> {
  const before = await jobsNow();
  const answer = await cron(args, session);
  const { status, approvalId: id } = answer;
  assert.equal(status, "approval-pending", JSON.stringify([args, answer]));
  const card = (await pendingNow()).find((one) => one.id === id)?.card;
  assert.match(card?.rows.find(({ label }) => label === "why you are asked")?.value ?? "", why);
  assert.deepEqual(await jobsNow(), before);
  await ask(stage.wire, "exec.approval.resolve", { id, decision: "deny" });
}
const exec = { kind: "exec", command: "touch /tmp/never" };

test("a job under another agent is the owner's to allow, however its name is given", async () => {
  const job = { name: "as main", schedule: hourly, payload: exec, delivery: quiet };
  for (const wish of [
    { ...job, agentId: "main" },
    { ...job, agentId: "MAIN" },
    { data: { ...job, agentId: "main" } },
    { name: "turn", schedule: hourly, message: "run a command", agentId: "main" },
    { name: "line", schedule: hourly, text: "run a command", agentId: "main" },
  ])
    await asked({ action: "add", job: wish }, /as agent main/);
});

test("nor does a job of one's own become one of another agent by a patch", async () => {
  const added = await cron({ action: "add", job: { name: "mine", schedule: hourly, message: "hi", delivery: quiet } });
  assert.equal(added["agentId"], "weak");
  const jobId = added["id"];
  for (const patch of [{ agentId: "main" }, { agentId: null }, { agentId: "" }, { job: { agentId: "main" } }])
    await asked({ action: "update", jobId, patch }, /as agent main/);
  assert.equal((await jobsNow()).find(({ id }) => id === jobId)?.agentId, "weak");
});

test("a tool the asker is denied is not to be had by a job without a model, new or changed", async () => {
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

test("the jobs of an agent one may not talk with are not there: not listed, read, run, changed or removed", async () => {
  const { id } = await addJob(stage.wire, { name: "secret plan", schedule: hourly, message: "x", delivery: quiet });
  const { jobs } = (await cron({ action: "list", includeDisabled: true })) as unknown as { jobs: WireJob[] };
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
  assert.deepEqual(await runsOf(stage.wire, id), []);
  assert.deepEqual(await pendingNow(), []);
});

test("from a sandbox no line goes to the main session outside of it without the owner", async () => {
  const job = { name: "x", schedule: hourly, text: "do it", sessionTarget: "main" };
  await asked({ action: "add", job }, /from a sandbox/, BOXED);
});

test("who is not the owner starts no job by hand, and cannot keep a session awake by itself", async () => {
  const { id } = await addJob(stage.wire, { name: "pay the rent", schedule: hourly, message: "pay", delivery: quiet });
  const hook = async (message: string, args: Record<string, unknown>): Promise<string> => {
    let heard = "";
    stage.play(({ role, text }) => {
      if (role === "tool") heard = text;
      return role === "tool" || !text.includes(message) ? say("HEARTBEAT_OK") : call("cron", args);
    });
    const { status } = await fetch(`${stage.gateway.url}/hooks/agent`, {
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
  assert.deepEqual(await runsOf(stage.wire, id), []);
  assert.match(await hook("wake up", { action: "wake", text: "go on", mode: "now" }), /next-heartbeat/);
});

test("what a job limits its turn to holds for every later turn of that session", async () => {
  stage.play(() => say("done"));
  const payload = { kind: "agentTurn", message: "look", toolsAllow: ["session_status"] };
  const { id } = await addJob(stage.wire, { name: "narrow", schedule: hourly, payload, delivery: quiet });
  await ask(stage.wire, "cron.run", { id });
  const [run] = await runsOf(stage.wire, id);
  const answer = await callTool(stage.gateway, "sessions_send", {
    sessionKey: run?.sessionKey,
    message: "more, please",
  });
  assert.equal(answer["status"], "ok", JSON.stringify(answer));
  const later = stage.turns().filter(({ text }) => text.includes("more, please"));
  assert.deepEqual(later[0]?.tools, ["session_status"]);
});
