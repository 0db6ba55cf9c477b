// read, write and edit through the front door: the everyday walk, and the attack table over HTTP.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fill, fsCases, layFiles } from "../../attack/fs.cases.ts";
import { dispose, invoke, startGateway, tempHome, type TestGateway } from "../../harness/gateway.ts";

interface Answer {
  readonly ok?: boolean;
  readonly result?: {
    readonly content: readonly { readonly text?: string }[];
    readonly details?: Record<string, unknown>;
  };
  readonly error?: {
    readonly message: string;
    readonly details?: { readonly code?: string; readonly refused?: boolean };
  };
}

const SECRET = "S3CRET-CANARY";
let bound: TestGateway;
let open: TestGateway;

async function start(workspaceOnly: boolean): Promise<TestGateway> {
  const gateway = await startGateway({ home: realpathSync(tempHome()), config: { tools: { fs: { workspaceOnly } } } });
  const out = `${gateway.workspace}-evil`;
  for (const folder of [gateway.workspace, out]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(out, "secret"), `${SECRET}\n`);
  layFiles({ ws: gateway.workspace, out, state: gateway.state });
  execFileSync("mkfifo", [join(gateway.workspace, "pipe")]);
  return gateway;
}

before(async () => {
  [bound, open] = await Promise.all([start(true), start(false)]);
});
after(async () => {
  await Promise.all([dispose(bound), dispose(open)]);
});

const call = async (gateway: TestGateway, tool: string, args: unknown): Promise<Answer> =>
  (await invoke(gateway, tool, args)).body as Answer;

test("write, read, edit, read again", async () => {
  const path = join(bound.workspace, "notes/today.md");
  assert.deepEqual(
    (await call(bound, "write", { path: "notes/today.md", content: "# Today\n\n- milk\n" })).result?.details,
    { path, bytes: 16, created: true },
  );
  assert.equal(
    (await call(bound, "read", { file_path: "notes/today.md", offset: 3 })).result?.content[0]?.text,
    "- milk\n",
  );
  assert.equal(
    (await call(bound, "edit", { path: "notes/today.md", old_string: "milk", new_string: "oat milk" })).result
      ?.details?.["firstChangedLine"],
    3,
  );
  assert.equal(readFileSync(path, "utf8"), "# Today\n\n- oat milk\n");
});

test("a missing parameter is named", async () => {
  for (const [tool, args, name] of [
    ["read", {}, "path"],
    ["write", { path: "x" }, "content"],
    ["edit", { path: "x", newText: "y" }, "oldText"],
  ] as const) {
    const { error } = await call(bound, tool, args);
    assert.deepEqual([error?.details?.code, error?.message.includes(`"${name}"`)], ["tool.bad-arguments", true], tool);
  }
});

for (const attempt of fsCases) {
  test(`${attempt.id} ${attempt.tool}: ${attempt.why}: ${attempt.expect}`, { timeout: 300_000 }, async () => {
    const gateway = attempt.open === true ? open : bound;
    const { workspace: ws, state, home } = gateway;
    const out = `${ws}-evil`;
    const args = fill(attempt.params, { ws, out, state, home }, "x".repeat(3_000_000));
    const answer = await call(gateway, attempt.tool, args);
    const said = JSON.stringify(answer);
    if (attempt.expect === "allow") assert.equal(answer.ok, true, said);
    if (attempt.expect === "deny") assert.equal(answer.error?.details?.refused, true, said);
    if (attempt.expect === "error") assert.notEqual(answer.error, undefined, said);
    assert.ok(!said.includes(SECRET) && !said.includes(gateway.token), said);
    assert.doesNotMatch(said, /[\u202a-\u202e]/);
    assert.deepEqual(
      readdirSync(out).filter((name) => name !== "notes.md"),
      ["secret"],
    );
    assert.equal(readFileSync(join(out, "secret"), "utf8"), `${SECRET}\n`);
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
  });
}
