// `openclaw cron …` as a person uses it, with every documented flag.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dispose, openclaw, startGateway, type Ran, type TestGateway } from "../../harness/gateway.ts";
import type { WireJob, WireRun } from "../../harness/cron.ts";

let gateway: TestGateway;
const cron = (...words: string[]): Promise<Ran> => openclaw(gateway.home, ["cron", ...words]);
const json = async <T>(...words: string[]): Promise<T> => {
  const { code, stdout, stderr } = await cron(...words, "--json");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as T;
};
before(async () => {
  gateway = await startGateway({ config: { agents: { list: [{ id: "main", default: true }, { id: "ops" }] } } });
});
after(() => dispose(gateway));

test("a job can be added, listed, edited, disabled, enabled, run and removed", async () => {
  const added = await json<WireJob>("add", "--name", "disk", "--every", "1h", "--exec", "echo fine", "--no-deliver");
  assert.deepEqual(
    [added.schedule["kind"], added.schedule["everyMs"], added.payload, added.delivery],
    ["every", 3_600_000, { kind: "exec", command: "echo fine" }, { mode: "none" }],
  );
  const { id } = added;
  assert.match((await cron("list")).stdout, new RegExp(`${id} +disk +every 1 h +in `));
  assert.match((await cron("status")).stdout, /^1 job, next in /);
  const edited = await json<WireJob>("edit", id, "--every", "2h", "--name", "disk2", "--description", "changed");
  assert.deepEqual([edited.name, edited.schedule["everyMs"]], ["disk2", 7_200_000]);
  assert.equal((await json<WireJob>("disable", id)).enabled, false);
  assert.match((await cron("list")).stdout, /No jobs/);
  assert.match((await cron("list", "--all")).stdout, /disk2.*disabled/);
  assert.equal((await json<WireJob>("enable", id)).enabled, true);
  assert.match((await cron("run", id, "--due")).stdout, /not run: not-due/);
  assert.equal((await json<{ ran: boolean }>("run", id, "--force")).ran, true);
  const { entries } = await json<{ entries: WireRun[] }>("runs", "--id", id, "--limit", "5");
  assert.deepEqual(
    entries.map(({ status, summary }) => [status, summary]),
    [["ok", "fine"]],
  );
  assert.match((await cron("runs", id)).stdout, /ran .*fine/);
  assert.deepEqual(await json("rm", id), { ok: true, removed: true });
  assert.deepEqual(await json("remove", id), { ok: true, removed: false });
  assert.equal((await cron("delete", id)).code, 1);
});

test("run waits for the end and prints the outcome; a failed job ends the command with 1", async () => {
  const words = ["--every", "1h", "--no-deliver"];
  const good = await json<WireJob>("add", "--name", "good", "--exec", "echo no problems", ...words);
  const bad = await json<WireJob>("add", "--name", "bad", "--exec", "exit 7", ...words);
  const ran = await cron("run", good.id);
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  assert.match(ran.stdout, /^ran, .*: no problems$/m);
  const failed = await cron("run", bad.id);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^failed, .*exit code 7/m);
  const asData = await cron("run", bad.id, "--json");
  const { ok, ran: begun, run } = JSON.parse(asData.stdout) as { ok: boolean; ran: boolean; run: WireRun };
  assert.deepEqual([asData.code, ok, begun, run.status, run.why], [1, true, true, "error", "by hand"]);
  for (const { id } of [good, bad]) await json("rm", id);
});

test("every documented flag of add reaches the job", async () => {
  const words = [
    "create --name brief --cron '0 7 * * 1-5' --tz Europe/Berlin --session isolated --message 'Sum up'",
    "--wake next-heartbeat --agent ops --model openai/gpt-5.2 --thinking high --timeout-seconds 90 --tools read,exec",
    "--announce --channel telegram --to -100123:topic:7 --best-effort-deliver --delete-after-run",
    "--description mornings --disabled --misfire 1h",
  ];
  const job = await json<WireJob>(...shellWords(words.join(" ")));
  const { id: _id, createdAtMs: _c, updatedAtMs: _u, ...rest } = job;
  assert.deepEqual(rest, {
    agentId: "ops",
    name: "brief",
    description: "mornings",
    enabled: false,
    deleteAfterRun: true,
    schedule: { kind: "cron", expr: "0 7 * * 1-5", tz: "Europe/Berlin" },
    sessionTarget: "isolated",
    wakeMode: "next-heartbeat",
    payload: {
      kind: "agentTurn",
      message: "Sum up",
      model: "openai/gpt-5.2",
      thinking: "high",
      timeoutSeconds: 90,
      toolsAllow: ["read", "exec"],
    },
    delivery: { mode: "announce", channel: "telegram", to: "-100123:topic:7", bestEffort: true },
    misfire: { windowMs: 3_600_000 },
    state: {},
  });
  const cleared = await json<WireJob>("edit", job.id, "--clear-agent", "--enable", "--no-deliver");
  assert.deepEqual([cleared.agentId, cleared.enabled, cleared.delivery?.["mode"]], [undefined, true, "none"]);
});

test("--at accepts a duration, an ISO time without a zone as UTC, and milliseconds", async () => {
  const at = async (when: string): Promise<number> => {
    const job = await json<WireJob>("add", "--name", "at", "--at", when, "--system-event", "x", "--keep-after-run");
    assert.deepEqual([job.sessionTarget, job.deleteAfterRun], ["main", false]);
    return Date.parse(String(job.schedule["at"]));
  };
  const before = Date.now();
  const soon = await at("2h");
  assert.ok(soon >= before + 7_200_000 && soon <= Date.now() + 7_200_000);
  const year = new Date().getUTCFullYear() + 1;
  assert.equal(await at(`${year}-01-02T03:04:05`), Date.UTC(year, 0, 2, 3, 4, 5));
  assert.equal(await at(String(Date.UTC(year, 5, 1))), Date.UTC(year, 5, 1));
});

test("next shows upcoming times with their offset; --dry-run shows a job without saving it", async () => {
  const { stdout } = await cron("next", "--cron", "30 2 * * *", "--tz", "Europe/Berlin", "--count", "3");
  const lines = stdout.trim().split("\n");
  assert.equal(lines[0], "run times in Europe/Berlin");
  assert.equal(lines.length, 4);
  assert.match(lines[1] ?? "", /^\d{4}-\d{2}-\d{2} 0[23]:[03]0:00 \+0[12]:00/);
  const before = await json<{ jobs: number }>("status");
  const dry = await cron(
    "add",
    "--name",
    "dry",
    "--every",
    "1d",
    "--tool",
    "sessions_list",
    "--args",
    "{}",
    "--dry-run",
  );
  assert.match(dry.stdout, /^dry, run times in /);
  assert.equal((await json<{ jobs: number }>("status")).jobs, before.jobs);
});

test("next handles both clock changes: no time is lost in spring, none comes twice in autumn", async () => {
  const times = async (expr: string): Promise<string[]> =>
    (await cron("next", "--cron", expr, "--tz", "Europe/Berlin", "--count", "7")).stdout.trim().split("\n").slice(1);
  const days = (lines: readonly string[]): Set<string> => new Set(lines.map((line) => line.slice(0, 10)));
  const spring = await times("30 2 25-31 3 *");
  assert.equal(days(spring).size, 7);
  assert.deepEqual(
    spring.filter((line) => line.includes("forward")).map((line) => line.slice(11)),
    ["03:00:00 +02:00  clocks went forward 1 h before this"],
  );
  const autumn = await times("30 2 25-31 10 *");
  assert.equal(days(autumn).size, 7);
  assert.ok(
    autumn.every((line) => line.slice(11, 19) === "02:30:00"),
    autumn.join("\n"),
  );
});

test("rejects unknown words before any request, and wrong values with the key that fixes them", async () => {
  for (const [words, complaint] of [
    [["add", "--name", "x", "--message", "x"], /missing schedule/],
    [["add", "--name", "x", "--every", "1h"], /missing action/],
    [["add", "--every", "1h", "--message", "x"], /--name/],
    [["add", "--name", "x", "--every", "1h", "--at", "2h", "--message", "x"], /exclude each other/],
    [["add", "--name", "x", "--every", "1h", "--message", "x", "--system-event", "y"], /exclude each other/],
    [["add", "--name", "x", "--every", "soon", "--message", "x"], /--every must be a span/],
    [["add", "--name", "x", "--every", "1h", "--tz", "UTC", "--message", "x"], /--tz requires --cron or --at/],
    [["add", "--name", "x", "--every", "1h", "--message", "x", "--announce", "--no-deliver"], /exclude each other/],
    [["edit", "some-id"], /nothing to change/],
    [["runs"], /missing --id/],
    [["next"], /missing <id>, or one of/],
  ] as const) {
    const { code, stderr } = await cron(...words);
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, complaint);
  }
  for (const [words, complaint] of [
    [["add", "--name", "x", "--cron", "nonsense", "--message", "x"], /schedule\.expr/],
    [["add", "--name", "x", "--every", "1h", "--session", "main", "--message", "x"], /systemEvent/],
    [["run", "nope"], /unknown cron job id: nope/],
    [["edit", "nope", "--name", "y"], /unknown cron job id: nope/],
    [["rm", "nope"], /unknown cron job id: nope\nfix: openclaw cron list --all/],
    [["runs", "nope"], /unknown cron job id: nope\nfix: openclaw cron list --all/],
  ] as const) {
    const { code, stderr } = await cron(...words);
    assert.equal(code, 1, words.join(" "));
    assert.match(stderr, complaint);
  }
});

function shellWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
