// Jobs whose agent is gone run as nobody, and who may only look at jobs reads no secrets in them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { addJob, ask, cronEvents, hourly, quiet, runsOf, type WireJob, type WireRun } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

let gateway: TestGateway;
let wire: Wire;
let reader: Wire;

before(async () => {
  gateway = await startGateway({
    config: {
      agents: {
        list: [
          { id: "main", default: true },
          { id: "ops", tools: { deny: ["exec"] } },
        ],
      },
    },
  });
  wire = await operator(gateway);
  reader = await operator(gateway, { scopes: ["operator.read"] });
});
after(async () => {
  wire.end();
  reader.end();
  await dispose(gateway);
});

const jobsOf = async (who: Wire): Promise<WireJob[]> =>
  (await ask<{ jobs: WireJob[] }>(who, "cron.list", { includeDisabled: true })).jobs;

test("a job whose agent was removed fails for every kind, with the command that fixes it", async () => {
  const { ok, error } = await wire.request("agents.create", { name: "gone", workspace: `${gateway.home}/gone` });
  assert.equal(ok, true, JSON.stringify(error));
  const payloads = [
    { kind: "systemEvent", text: "orphaned line" },
    { kind: "agentTurn", message: "orphaned turn" },
    { kind: "exec", command: `touch ${gateway.home}/orphan-ran` },
    { kind: "tool", tool: "read", args: { path: "AGENTS.md" } },
  ];
  const jobs = await Promise.all(
    payloads.map((payload) => addJob(wire, { name: payload.kind, agentId: "gone", schedule: hourly, payload })),
  );
  assert.equal((await wire.request("agents.delete", { agentId: "gone" })).ok, true);
  for (const { id } of jobs) {
    await ask(wire, "cron.run", { id });
    const [run] = await until(
      () => runsOf(wire, id),
      (runs) => runs.length > 0,
    );
    assert.equal(run?.state, "failed");
    assert.equal(
      run?.error,
      `the agent "gone" of this job no longer exists, and no other agent runs it (openclaw cron edit ${id} --agent <id>, or openclaw cron rm ${id})`,
    );
    assert.equal(run?.sessionId, undefined);
  }
  const listed = await openclaw(gateway.home, ["cron", "list", "--all", "--json"]);
  assert.match(listed.stdout, /no longer exists, and no other agent runs it/);
  const [, , exec] = jobs;
  const fixed = await openclaw(gateway.home, ["cron", "edit", exec?.id ?? "", "--agent", "main", "--json"]);
  assert.equal(fixed.code, 0, fixed.stderr);
  await ask(wire, "cron.run", { id: exec?.id });
  assert.equal((await runsOf(wire, exec?.id ?? "")).at(-1)?.state, "ran");
});

test("a client with read scope sees jobs, rows, previews and events without secrets; one with admin scope sees all", async () => {
  const secret = "hunter2-very-long-word";
  const known = gateway.token;
  const job = await addJob(wire, {
    name: "backup",
    description: `login at https://me:${secret}@example.invalid/x`,
    schedule: hourly,
    payload: {
      kind: "exec",
      command: `echo "DB_PASSWORD=${secret}" --api-key ${secret} -u me:${secret} "Authorization: Basic ${secret}" 'https://h.invalid/?access_token=${secret}' ${known}; exit 3`,
    },
    delivery: quiet,
  });
  const args = { path: "x", headers: { "X-Api-Key": secret, accept: "text/plain" }, token: [secret] };
  const tool = await addJob(wire, { name: "t", schedule: hourly, payload: { kind: "tool", tool: "read", args } });
  const line = await addJob(wire, {
    name: "l",
    schedule: hourly,
    wakeMode: "next-heartbeat",
    payload: { kind: "systemEvent", text: `the password: ${secret}` },
  });
  await ask(wire, "cron.run", { id: job.id });
  await ask(wire, "cron.run", { id: line.id });
  const ids = [job.id, tool.id, line.id];
  const seen = (await jobsOf(reader)).filter(({ id }) => ids.includes(id));
  const rows = await Promise.all(ids.map((id) => runsOf(reader, id)));
  const previews = await Promise.all(ids.map((id) => ask(reader, "cron.preview", { id })));
  const events = ids.flatMap((id) => [...cronEvents(reader, id), ...cronEvents(wire, id)]);
  const all = JSON.stringify([seen, rows, previews, events]);
  assert.equal(seen.length, 3);
  assert.ok(!all.includes(secret), all);
  assert.ok(!all.includes(known), all);
  assert.equal(seen.find(({ id }) => id === job.id)?.payload["kind"], "exec");
  assert.match(String(seen.find(({ id }) => id === job.id)?.payload["command"]), /^echo "DB_PASSWORD=/);
  const shown = seen.find(({ id }) => id === tool.id)?.payload["args"] as { headers: { accept: string }; path: string };
  assert.deepEqual([shown.path, shown.headers.accept], ["x", "text/plain"]);
  const whole = (await jobsOf(wire)).filter(({ id }) => ids.includes(id));
  assert.equal(JSON.stringify(whole).split(secret).length - 1, 9);
  const own: WireRun[] = await runsOf(wire, line.id);
  assert.equal(own[0]?.summary, `the password: ${secret}`);
});
