// Links out of the box, strange spellings of its folders, and agents that reach for what belongs to another.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call, exec, proc, until, type Called } from "../harness/exec.ts";
import { dispose, operator, startGateway, tempHome, type TestGateway, type Wire } from "../harness/gateway.ts";
import { chat, textOf } from "../harness/model.ts";
import { noBubblewrap } from "../harness/sandbox.ts";

const CANARY = "CANARY-51c2";
const GROUP = { body: { sessionKey: "agent:main:telegram:group:77" } };
const idOf = ({ details, text }: Called): string => {
  assert.equal(details["status"], "approval-pending", text);
  return String(details["approvalId"]);
};

describe("a sandbox over the agent's workspace, and the unsandboxed session beside it", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  let home: string;
  before(async () => {
    home = tempHome();
    writeFileSync(join(home, "secret.txt"), CANARY);
    gateway = await startGateway({
      home,
      config: {
        agents: {
          defaults: {
            model: { primary: "openai/gpt-5.2" },
            sandbox: { mode: "non-main", workspaceAccess: "rw", backend: "bubblewrap" },
          },
        },
        tools: { fs: { workspaceOnly: true }, exec: { applyPatch: { enabled: true } } },
      },
    });
    const { text } = await exec(
      gateway,
      {
        command: [
          `ln -s ${home}/secret.txt file`,
          `ln -s ${home} dir`,
          "ln -s ../../secret.txt up",
          `ln -s /proc/self/root${home} proc`,
          "ln -s file chain",
          `ln -s ${home}/fresh.txt dangling`,
          "mkdir -p real && echo mine > real/note.txt",
          "echo linked",
        ].join(" && "),
      },
      GROUP,
    );
    assert.match(text, /linked/);
  });
  after(() => dispose(gateway));

  const untouched = (): void => {
    assert.equal(readFileSync(join(home, "secret.txt"), "utf8"), CANARY);
    for (const name of ["fresh.txt", "planted.txt"]) assert.equal(existsSync(join(home, name)), false, name);
  };
  for (const [who, options] of [["the boxed session", GROUP] as const, ["the unboxed session", undefined] as const]) {
    test(`${who}: read follows no link that leads out`, async () => {
      for (const path of ["file", "dir/secret.txt", "up", "proc/secret.txt", "chain", "/workspace/file"]) {
        const { status, text } = await call(gateway, "read", { path }, options);
        assert.notEqual(status, 200, `${path}: ${text}`);
        assert.doesNotMatch(text, new RegExp(CANARY), path);
      }
      assert.match((await call(gateway, "read", { path: "real/note.txt" }, options)).text, /mine/);
    });
    test(`${who}: write and edit change no file behind a link`, async () => {
      for (const path of ["file", "dangling", "dir/planted.txt", "dir/secret.txt", "up", "chain", "proc/planted.txt"]) {
        await call(gateway, "write", { path, content: "overwritten" }, options);
        await call(gateway, "edit", { path, oldText: CANARY, newText: "edited" }, options);
        untouched();
      }
      await exec(
        gateway,
        { command: `ln -sfn ${home}/secret.txt file && ln -sfn ${home} dir && ln -sfn file chain` },
        GROUP,
      );
    });
    test(`${who}: apply_patch adds, changes, moves and deletes no file behind a link`, async () => {
      const body = (lines: string): string => `*** Begin Patch\n${lines}\n*** End Patch`;
      for (const input of [
        body("*** Add File: dir/planted.txt\n+x"),
        body("*** Add File: dangling\n+x"),
        body(`*** Update File: file\n@@\n-${CANARY}\n+x`),
        body(`*** Update File: dir/secret.txt\n@@\n-${CANARY}\n+x`),
        body("*** Update File: real/note.txt\n*** Move to: dir/planted.txt\n@@\n-mine\n+x"),
        body("*** Delete File: dir/secret.txt"),
      ]) {
        const { status, text } = await call(gateway, "apply_patch", { input }, options);
        untouched();
        assert.notEqual(status, 200, `${input}: ${text}`);
      }
      const fine = await call(gateway, "apply_patch", { input: body("*** Add File: real/added.txt\n+x") }, options);
      assert.equal(fine.status, 200, fine.text);
      rmSync(join(gateway.workspace, "real/added.txt"));
      assert.equal(readFileSync(join(gateway.workspace, "real/note.txt"), "utf8"), "mine\n");
    });
  }

  test("a workdir that is a link reaches no folder outside the sandbox", async () => {
    for (const workdir of ["dir", "proc", "/workspace/dir", join(gateway.workspace, "dir"), "real/../dir", "up"]) {
      const { text } = await exec(gateway, { command: "cat secret.txt; touch planted.txt; pwd -P", workdir }, GROUP);
      assert.doesNotMatch(text, new RegExp(CANARY), workdir);
      untouched();
    }
  });

  test("spellings of /workspace and /agent cannot climb out", async () => {
    writeFileSync(join(gateway.state, "notes-of-the-house.txt"), CANARY);
    for (const path of [
      "/workspace/../notes-of-the-house.txt",
      "/workspace/../../secret.txt",
      "/workspace/real/../../notes-of-the-house.txt",
      "/workspace//..//notes-of-the-house.txt",
      "/workspace/./../notes-of-the-house.txt",
      "/agent/../notes-of-the-house.txt",
      "/agent/../../secret.txt",
      "@/agent/../notes-of-the-house.txt",
      "file:///workspace/../notes-of-the-house.txt",
      "/workspace/%2e%2e/notes-of-the-house.txt",
      "/workspace\u2028/../notes-of-the-house.txt",
      "real/../../notes-of-the-house.txt",
    ])
      for (const options of [GROUP, undefined]) {
        const { status, text } = await call(gateway, "read", { path }, options);
        assert.notEqual(status, 200, path);
        assert.doesNotMatch(text, new RegExp(CANARY), path);
        assert.notEqual((await call(gateway, "write", { path, content: "x" }, options)).status, 200, path);
        assert.equal(readFileSync(join(gateway.state, "notes-of-the-house.txt"), "utf8"), CANARY);
        untouched();
      }
    for (const workdir of ["/workspace/..", "/workspace/../..", "/agent/..", "..", "/workspace/../agent"])
      assert.doesNotMatch(
        (await exec(gateway, { command: "ls -a", workdir }, GROUP)).text,
        /notes-of-the-house|secret/,
      );
  });
});

test("read-only access: /agent shows only the agent's workspace", { skip: noBubblewrap }, async (t) => {
  const gateway = await startGateway({
    config: { agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "ro", backend: "bubblewrap" } } } },
  });
  t.after(() => dispose(gateway));
  mkdirSync(gateway.workspace, { recursive: true });
  writeFileSync(join(gateway.workspace, "plan.txt"), "the plan");
  writeFileSync(join(gateway.state, "beside.txt"), CANARY);
  symlinkSync(join(gateway.state, "beside.txt"), join(gateway.workspace, "out"));
  assert.match((await call(gateway, "read", { path: "/agent/plan.txt" })).text, /the plan/);
  for (const path of [
    "/agent/../beside.txt",
    "/agent/out",
    "/agent/./../beside.txt",
    "/agent//../beside.txt",
    "/agent/../workspace/../beside.txt",
    "/agent/../agent/../beside.txt",
    "/agent/plan.txt/../../beside.txt",
    join(gateway.state, "beside.txt"),
  ]) {
    const { status, text } = await call(gateway, "read", { path });
    assert.notEqual(status, 200, path);
    assert.doesNotMatch(text, new RegExp(CANARY), path);
  }
  for (const workdir of ["/agent/..", "/agent/../..", "/agent/out"])
    assert.doesNotMatch((await exec(gateway, { command: "cat beside.txt; ls", workdir })).text, new RegExp(CANARY));
  await exec(gateway, { command: "echo x > /agent/plan.txt; echo x > plan2.txt", workdir: "/agent" });
  assert.equal(readFileSync(join(gateway.workspace, "plan.txt"), "utf8"), "the plan");
});

describe("two agents", () => {
  let gateway: TestGateway;
  let wire: Wire;
  const OTHER = { body: { sessionKey: "agent:other:main" } };
  before(async () => {
    gateway = await startGateway({
      config: {
        agents: {
          list: [
            { id: "main", default: true },
            { id: "other" },
            { id: "asks", tools: { exec: { host: "gateway", ask: "always" } } },
          ],
        },
      },
    });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  test("no action of process reaches another agent's command or reveals that it exists", async () => {
    const { details } = await exec(gateway, { command: "cat", background: true });
    const sessionId = String(details["sessionId"]);
    const args: Record<string, Record<string, unknown>> = {
      poll: {},
      log: { limit: 5 },
      screen: {},
      write: { data: "x\n" },
      "send-keys": { keys: ["C-c"] },
      submit: { data: "x" },
      paste: { text: "x" },
      kill: {},
      clear: {},
      remove: {},
    };
    for (const [action, more] of Object.entries(args))
      for (const id of [sessionId, sessionId.toUpperCase(), ` ${sessionId} `]) {
        const there = await proc(gateway, { action, sessionId: id, ...more }, OTHER);
        const absent = await proc(gateway, { action, sessionId: "no-such", ...more }, OTHER);
        assert.equal(there.error?.type, "process.unknown", action);
        assert.equal(
          there.text.replaceAll(id, "ID").replaceAll(id.trim(), "ID"),
          absent.text.replaceAll("no-such", "ID"),
        );
      }
    assert.deepEqual((await proc(gateway, { action: "list" }, OTHER)).details["sessions"], []);
    assert.match((await proc(gateway, { action: "poll", sessionId })).text, /Still running/);
    await proc(gateway, { action: "remove", sessionId });
  });

  test("an agent name in the arguments does not change the caller", async () => {
    for (const more of [{ agent: "main" }, { agentId: "main" }, { sessionKey: "agent:main:main" }, { session: "main" }])
      assert.equal((await proc(gateway, { action: "list", ...more }, OTHER)).error?.type, "tool.bad-arguments");
  });

  test("only a client with approval scope answers; another session's id is useless to the asking session", async () => {
    const asked = { body: { sessionKey: "agent:asks:main" } };
    const canary = join(gateway.home, "answered");
    const id = idOf(await exec(gateway, { command: `touch ${canary}` }, asked));
    for (const scopes of [["operator.write"], ["operator.read"], ["operator.read", "operator.write"], []]) {
      const weak = await operator(gateway, { scopes });
      for (const method of [
        "exec.approval.resolve",
        "exec.approvals.set",
        "exec.approvals.get",
        "exec.approvals.pending",
      ]) {
        const params = { id, decision: "allow-once", file: { version: 1, defaults: { security: "full", ask: "off" } } };
        const { ok } = await weak.request(
          method,
          method === "exec.approval.resolve"
            ? { id, decision: "allow-once" }
            : method.endsWith("set")
              ? { file: params.file }
              : {},
        );
        assert.equal(ok, false, `${scopes.join()} ${method}`);
      }
      for (const said of [`/approve ${id} allow-once`, `/approve ${id.slice(0, 8)} allow-always`]) {
        const sent = await weak.request("chat.send", {
          sessionKey: "agent:other:main",
          message: said,
          idempotencyKey: randomUUID(),
        });
        if (sent.ok === true)
          await until(
            () => weak.frames.filter(({ event }) => event === "chat"),
            (frames) => frames.length > 0,
          );
      }
      weak.end();
    }
    assert.equal(existsSync(canary), false);
    for (const more of [{ approvalId: id }, { approved: true }, { approval: id }, { decision: "allow-once" }])
      assert.equal(
        (await exec(gateway, { command: `touch ${canary}`, ...more }, asked)).error?.type,
        "tool.bad-arguments",
      );
    assert.equal(existsSync(canary), false);
    const owner = await chat(wire, "agent:main:main", `/approve ${id} deny`, randomUUID());
    assert.match(textOf(owner), /./, "the owner may answer from any chat");
    assert.equal((await wire.request("exec.approval.resolve", { id, decision: "allow-once" })).ok, false);
    assert.equal(existsSync(canary), false);
  });
});

test("two agents have two sandboxes that share no files, processes or sockets", { skip: noBubblewrap }, async (t) => {
  const gateway = await startGateway({
    config: {
      agents: {
        defaults: { sandbox: { mode: "all", backend: "bubblewrap", scope: "agent", workspaceAccess: "none" } },
        list: [{ id: "main", default: true }, { id: "other" }],
      },
    },
  });
  t.after(() => dispose(gateway));
  const OTHER = { body: { sessionKey: "agent:other:main" } };
  await exec(gateway, { command: `echo ${CANARY} > mine.txt; echo ${CANARY} > /tmp/mine.txt` });
  const { details } = await exec(gateway, { command: `sh -c 'sleep 300; true' ${CANARY}`, background: true });
  const seen = await exec(
    gateway,
    {
      command:
        "cat mine.txt /tmp/mine.txt ../*/mine.txt 2>&1; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; kill -9 -1; true",
    },
    OTHER,
  );
  assert.doesNotMatch(seen.text.replaceAll(/cat: [^\n]*/g, ""), new RegExp(CANARY));
  const read = await call(gateway, "read", { path: "mine.txt" }, OTHER);
  assert.doesNotMatch(read.text, new RegExp(CANARY));
  assert.match((await proc(gateway, { action: "poll", sessionId: details["sessionId"] })).text, /Still running/);
});
