// Saving and undoing with the real file tools: exact bytes and modes, conflicts, limits, redo, and crashes.
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import fc from "fast-check";

import { systemClock } from "../../base/clock.ts";
import { createLanes } from "../../base/lane.ts";
import { createMask } from "../../base/mask.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import { DEFAULT_AGENT, mainSessionKey } from "../../core/names.ts";
import { openSqliteStore } from "../../store/sqlite.ts";
import { withFiles, type FileToolDeps } from "../fs/access.ts";
import { createApplyPatchTool } from "../fs/apply-patch.ts";
import { createEditTool } from "../fs/edit.ts";
import { createWriteTool } from "../fs/write.ts";
import type { Tool, ToolCall, ToolResult } from "../tool.ts";
import { createUndoEngine, type EngineDeps, type UndoEngine } from "./engine.ts";
import type { UndoReport, UndoRequest } from "./undo.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };
const SESSION = mainSessionKey(DEFAULT_AGENT);

interface Bench {
  readonly state: string;
  readonly ws: string;
  readonly engine: UndoEngine;
  readonly journal: EngineDeps["journal"];
  readonly run: (
    turn: string,
    tool: "write" | "edit" | "apply_patch",
    args: object,
    over?: Partial<ToolCall>,
  ) => Promise<ToolResult>;
  readonly undo: (request?: UndoRequest) => Promise<UndoReport>;
}

async function openBench(t: TestContext, limits: EngineDeps["limits"] = {}): Promise<Bench> {
  const state = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-undo-")));
  const ws = join(state, "workspace");
  mkdirSync(ws);
  const store = await openSqliteStore({ file: join(state, "store.sqlite") });
  t.after(async () => {
    await engine.settle();
    await store.close();
    rmSync(state, { recursive: true, force: true });
  });
  const deps: FileToolDeps = {
    stateDir: join(state, "state"),
    configPath: join(state, "openclaw.json"),
    approvalsPath: join(state, "exec-approvals.json"),
    home: state,
    lanes: createLanes(),
    fileSaver: { before: (...change) => engine.fileSaver.before(...change) },
  };
  const surroundings = { workspace: ws, workspaceOnly: false, sandboxed: false };
  const engine = createUndoEngine({
    base: join(deps.stateDir, "undo"),
    journal: store.journal,
    clock: systemClock,
    mask: createMask(["s3cr3t-value"]),
    log: silent,
    limits,
    withFiles: (_session, paths, use) => withFiles(deps, surroundings, paths, use),
  });
  const tools = new Map<string, Tool>(
    [createWriteTool(deps), createEditTool(deps), createApplyPatchTool(deps)].map((tool) => [tool.name, tool as Tool]),
  );
  let calls = 0;
  return {
    state,
    ws,
    engine,
    journal: store.journal,
    async run(turn, name, args, over = {}) {
      const call: ToolCall = {
        id: `call-${(calls += 1)}`,
        turn,
        agent: DEFAULT_AGENT,
        session: SESSION,
        config: {} as Config,
        ...surroundings,
        subagent: false,
        senderIds: [],
        hints: {},
        allows: () => true,
        signal: new AbortController().signal,
        progress: () => undefined,
        ...over,
      };
      const tool = tools.get(name);
      assert.ok(tool);
      return tool.run(args as never, call);
    },
    undo: (request = {}) => engine.undo({ session: SESSION, agent: DEFAULT_AGENT, caller: "test" }, request),
  };
}

/** Every file below a folder with content and permissions, and every folder. */
function picture(ws: string): Record<string, string> {
  return Object.fromEntries(
    globSync("**/*", { cwd: ws })
      .toSorted()
      .map((name) => {
        const facts = statSync(join(ws, name));
        return [
          name,
          facts.isDirectory() ? "/" : `${(facts.mode & 0o7777).toString(8)} ${readFileSync(join(ws, name), "latin1")}`,
        ];
      }),
  );
}

const text = ({ content }: ToolResult): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

async function code(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof OpenClawError) return error.code;
    throw error;
  }
}

test("undoes a turn of several tools as a whole: contents, modes, names, folders", async (t) => {
  const { ws, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "one\ntwo\n");
  writeFileSync(join(ws, "run.sh"), "echo old\n");
  chmodSync(join(ws, "run.sh"), 0o750);
  writeFileSync(join(ws, "bytes.bin"), Buffer.from([0, 255, 254, 13, 10, 0]));
  chmodSync(join(ws, "bytes.bin"), 0o604);
  const before = picture(ws);
  await run("t1", "write", { path: "new/deep/file.md", content: "fresh\n" });
  await run("t1", "edit", { path: "a.txt", oldText: "two", newText: "TWO" });
  await run("t1", "edit", { path: "a.txt", oldText: "one", newText: "ONE" });
  await run("t1", "write", { path: "bytes.bin", content: "text now" });
  await run("t1", "apply_patch", {
    input: "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo old\n+echo new\n*** End Patch",
  });
  const report = await undo();
  assert.deepEqual(picture(ws), before);
  assert.deepEqual(report.files.map(({ path, does }) => `${path.slice(ws.length + 1)} ${does}`).toSorted(), [
    "a.txt restored",
    "bin/run.sh removed",
    "bytes.bin restored",
    "new/deep/file.md removed",
    "run.sh recreated",
  ]);
  assert.match(report.files.find(({ path }) => path.endsWith("a.txt"))?.diff ?? "", /^-ONE\n-TWO\n\+one\n\+two$/m);
});

test("undoes the last turn that is not undone, then the one before; redo reverts an undo", async (t) => {
  const { ws, run, undo, engine } = await openBench(t);
  const [file] = [join(ws, "a.txt")];
  for (const n of [1, 2, 3]) await run(`t${n}`, "write", { path: "a.txt", content: `v${n}` });
  assert.deepEqual((await undo()).turn, 3);
  assert.equal(readFileSync(file, "utf8"), "v2");
  assert.deepEqual((await undo()).turn, 2);
  assert.equal(readFileSync(file, "utf8"), "v1");
  const redone = await undo({ redo: true });
  assert.equal(redone.turn, 5, "redo reverts the second undo");
  assert.equal(readFileSync(file, "utf8"), "v2");
  assert.equal((await undo({ redo: true })).turn, 4);
  assert.equal(readFileSync(file, "utf8"), "v3");
  assert.equal(await code(undo({ redo: true })), "undo.nothing");
  assert.deepEqual(
    (await engine.list(SESSION)).map(({ turn, undone, undoes }) => ({ turn, undone, undoes })),
    [
      { turn: 7, undone: false, undoes: 4 },
      { turn: 6, undone: false, undoes: 5 },
      { turn: 5, undone: true, undoes: 2 },
      { turn: 4, undone: true, undoes: 3 },
      { turn: 3, undone: false, undoes: undefined },
      { turn: 2, undone: false, undoes: undefined },
      { turn: 1, undone: false, undoes: undefined },
    ],
  );
  for (const left of ["v2", "v1", undefined])
    assert.equal((await undo(), existsSync(file) ? readFileSync(file, "utf8") : undefined), left);
  assert.equal(await code(undo()), "undo.nothing");
});

test("undoes a turn by its number, and rejects one that is undone or unknown", async (t) => {
  const { ws, run, undo } = await openBench(t);
  await run("t1", "write", { path: "a.txt", content: "a" });
  await run("t2", "write", { path: "b.txt", content: "b" });
  await undo({ turn: 1 });
  assert.deepEqual(picture(ws), { "b.txt": "644 b" });
  assert.equal(await code(undo({ turn: 1 })), "undo.already");
  assert.equal(await code(undo({ turn: 9 })), "undo.unknown-turn");
});

test("refuses to overwrite later changes by others, shows the difference, and undoes with force", async (t) => {
  const { ws, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "a\n");
  await run("t1", "write", { path: "a.txt", content: "agent\n" });
  await run("t1", "write", { path: "b.txt", content: "b\n" });
  writeFileSync(join(ws, "a.txt"), "agent\nmine\n");
  const before = picture(ws);
  const error = await undo().catch((cause: unknown) => cause);
  assert.ok(error instanceof OpenClawError);
  assert.equal(error.code, "undo.changed");
  assert.match(JSON.stringify(error.details), /-mine/);
  assert.deepEqual(picture(ws), before);
  const dry = await undo({ dryRun: true });
  assert.deepEqual(dry.changedSince, [join(ws, "a.txt")]);
  assert.deepEqual(picture(ws), before, "a dry run changes nothing");
  await undo({ force: true });
  assert.deepEqual(picture(ws), { "a.txt": "644 a\n" });
  await undo({ redo: true });
  assert.deepEqual(picture(ws), before, "redo restores what force overwrote");
});

test("leaves a name alone that became a link or a folder", async (t) => {
  const { ws, state, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "old");
  await run("t1", "write", { path: "a.txt", content: "new" });
  writeFileSync(join(state, "outside.txt"), "new");
  rmSync(join(ws, "a.txt"));
  symlinkSync(join(state, "outside.txt"), join(ws, "a.txt"));
  assert.notEqual(await code(undo({ force: true })), "ok");
  assert.equal(readFileSync(join(state, "outside.txt"), "utf8"), "new");
  await run("t2", "write", { path: "sub/b.txt", content: "new" });
  rmSync(join(ws, "sub"), { recursive: true });
  mkdirSync(join(state, "elsewhere"));
  writeFileSync(join(state, "elsewhere", "b.txt"), "new");
  symlinkSync(join(state, "elsewhere"), join(ws, "sub"));
  assert.notEqual(await code(undo({ force: true })), "ok");
  assert.equal(readFileSync(join(state, "elsewhere", "b.txt"), "utf8"), "new");
});

test("names files that are too large to save before the change, in its result, and in the undo", async (t) => {
  const { ws, run, undo } = await openBench(t, { fileBytes: 100 });
  writeFileSync(join(ws, "big.txt"), "x".repeat(101));
  writeFileSync(join(ws, "small.txt"), "small");
  const notices: string[] = [];
  const seen: string[] = [];
  const progress = (partial: ToolResult): void => {
    notices.push(text(partial));
    seen.push(readFileSync(join(ws, "big.txt"), "utf8"));
  };
  const result = await run("t1", "write", { path: "big.txt", content: "gone" }, { progress });
  assert.match(text(result), /Undo cannot restore the old .*big\.txt: it is too large to save/);
  assert.deepEqual([notices.length, seen], [1, ["x".repeat(101)]]);
  await run("t1", "write", { path: "small.txt", content: "changed" });
  const { files } = await undo();
  assert.deepEqual(
    files.map(({ path, does, why }) => [path.slice(ws.length + 1), does, why]),
    [
      ["big.txt", "not-kept", "too large to save"],
      ["small.txt", "restored", undefined],
    ],
  );
  assert.equal(readFileSync(join(ws, "big.txt"), "utf8"), "gone");
});

test("does not count a failed change as part of the turn", async (t) => {
  const { ws, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "a");
  await assert.rejects(run("t1", "edit", { path: "a.txt", oldText: "nope", newText: "x" }));
  const control = new AbortController();
  control.abort();
  await assert.rejects(run("t2", "write", { path: "a.txt", content: "b" }, { signal: control.signal }));
  assert.equal(await code(undo()), "undo.nothing");
});

test("lists what cannot be undone from the journal of that turn alone", async (t) => {
  const { run, undo, journal } = await openBench(t);
  const entry = { at: Date.now(), agentId: "main", sessionKey: SESSION, caller: "agent", outcome: "ok" } as const;
  const note = (id: string, turn: string, tool: string, intent: unknown, more = {}) =>
    journal.record({ ...entry, id, turn, tool, intent, ...more }, { durable: false });
  await note("1", "t0", "exec", { does: "run", command: "earlier", host: "gateway" });
  await run("t1", "write", { path: "a.txt", content: "a" });
  await note("2", "t1", "exec", { does: "run", command: "make all", host: "gateway" });
  await note("3", "t1", "message", { does: "send", to: "telegram:42" });
  await note("4", "t1", "cron", { does: "admin", what: "cron add job" }, { outcome: "unknown" });
  await note("5", "t1", "exec", { does: "run", command: "rm -rf /", host: "gateway" }, { outcome: "refused" });
  await note("6", "t1", "read", { does: "read", paths: ["/x"] });
  await note("7", "t2", "exec", { does: "run", command: "later", host: "gateway" }, { at: Date.now() + 5 });
  const { remains } = await undo({ dryRun: true });
  assert.deepEqual(remains, {
    lines: ["command run (gateway): make all", "message sent (message) to telegram:42", "cron: cron add job [unknown]"],
    later: 1,
  });
});

test("names a damaged or missing copy and changes nothing", async (t) => {
  const { ws, state, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "old content ".repeat(10_000));
  writeFileSync(join(ws, "b.txt"), "other ".repeat(20_000));
  await run("t1", "write", { path: "b.txt", content: "new" });
  await run("t1", "write", { path: "a.txt", content: "new" });
  const before = picture(ws);
  const copies = globSync("state/undo/*/*/*", { cwd: state }).filter((name) => !name.endsWith("turn.jsonl"));
  assert.equal(copies.length, 2);
  for (const name of copies) truncateSync(join(state, name), 2);
  assert.equal(await code(undo()), "undo.damaged");
  for (const name of copies) rmSync(join(state, name));
  assert.equal(await code(undo()), "undo.damaged");
  assert.deepEqual(picture(ws), before);
});

test("stores copies privately and redacts secrets in a difference", async (t) => {
  const { ws, state, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "password s3cr3t-value\n", { mode: 0o666 });
  await run("t1", "write", { path: "a.txt", content: "none\n" });
  for (const name of globSync("state/undo/**", { cwd: state })) {
    const { mode } = statSync(join(state, name));
    assert.equal(mode & 0o077, 0, name);
  }
  const report = await undo({ dryRun: true });
  assert.doesNotMatch(JSON.stringify(report), /s3cr3t-value/);
});

test("deletes old turns by number, by size of the session and by total size", async (t) => {
  const { state, run, engine, undo } = await openBench(t, {
    sessionTurns: 5,
    sessionBytes: 60_000,
    totalBytes: 40_000,
  });
  for (let n = 0; n < 60; n += 1)
    await run(`call-${n + 1}`, "write", { path: "a.txt", content: `${n}`.repeat(3000) }, { id: `call-${n + 1}` });
  await engine.settle();
  const left = globSync("state/undo/*/*", { cwd: state }).map((name) => Number(name.split("/").at(-1)));
  assert.ok(left.length <= 5 && left.includes(60), String(left));
  assert.equal((await undo()).turn, 60);
});

test("keeps an active turn while others are deleted", async (t) => {
  const { ws, run, engine, undo } = await openBench(t, { sessionTurns: 2 });
  await run("long", "write", { path: "a.txt", content: "1" });
  for (let n = 0; n < 10; n += 1) await run(`x${n}`, "write", { path: "b.txt", content: `${n}` }, { id: `x${n}` });
  await engine.settle();
  await run("long", "write", { path: "c.txt", content: "1" });
  assert.equal((await undo({ turn: 1 })).files.length, 2);
  assert.deepEqual(Object.keys(picture(ws)), ["b.txt"]);
});

test("ignores a change that a killed process recorded but did not make", async (t) => {
  const { ws, state, run, undo } = await openBench(t);
  writeFileSync(join(ws, "a.txt"), "a");
  await run("t1", "write", { path: "a.txt", content: "b" });
  // The record of a change that did not happen, as such a process leaves it, and a line torn in the middle.
  const [lines] = globSync("state/undo/*/*/turn.jsonl", { cwd: state });
  assert.ok(lines);
  const record = readFileSync(join(state, lines), "utf8");
  const [head = ""] = record.split("\n");
  const folder = join(dirname(dirname(join(state, lines))), "00000002");
  mkdirSync(folder, { recursive: true });
  const planned = JSON.stringify({ path: join(ws, "z.txt"), before: null, after: "0".repeat(64), fresh: [] });
  writeFileSync(join(folder, "turn.jsonl"), `${head.replace("t1", "t2")}\n${planned}\n{"path": "/to`);
  const report = await undo();
  assert.deepEqual([report.turn, report.files.map(({ does }) => does)], [2, ["same"]]);
  assert.deepEqual([(await undo()).turn, picture(ws)], [1, { "a.txt": "644 a" }]);
});

const names = ["a.txt", "b.txt", "dir/c.txt", "dir/sub/d.bin", "e.sh"];
const action = fc.record({
  kind: fc.constantFrom("write", "edit", "add", "delete", "move", "update"),
  name: fc.constantFrom(...names),
  other: fc.constantFrom(...names),
  content: fc.string({ unit: "grapheme", maxLength: 40 }),
});

/** A call that may make no sense now; failing calls are part of the test. */
function toCall(
  ws: string,
  { kind, name, other, content }: { kind: string; name: string; other: string; content: string },
): { tool: "write" | "edit" | "apply_patch"; args: object } {
  const first = existsSync(join(ws, name)) ? (readFileSync(join(ws, name), "utf8").split("\n")[0] ?? "") : "";
  const line = content.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]/g, " ");
  const patch = (body: string): { tool: "apply_patch"; args: object } => ({
    tool: "apply_patch",
    args: { input: `*** Begin Patch\n${body}\n*** End Patch` },
  });
  if (kind === "write") return { tool: "write", args: { path: name, content: content.toWellFormed() } };
  if (kind === "edit")
    return { tool: "edit", args: { path: name, oldText: first, newText: `${line}!`.toWellFormed() } };
  if (kind === "add") return patch(`*** Add File: ${name}\n+${line}`);
  if (kind === "delete") return patch(`*** Delete File: ${name}\n*** Add File: ${other}.new\n+${line}`);
  if (kind === "move") return patch(`*** Update File: ${name}\n*** Move to: ${other}`);
  return patch(`*** Update File: ${name}\n@@\n-${first}\n+${line}`);
}

test("restores every byte and every mode after random turns and undo of the last k", async (t) => {
  const rounds = Number(process.env["OPENCLAW_UNDO_ROUNDS"] ?? 15);
  let [turnsRun, undone] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
      fc.nat(6),
      fc.array(fc.constantFrom(0o600, 0o644, 0o755, 0o640), { minLength: 5, maxLength: 5 }),
      async (turns, k, modes) => {
        const { ws, run, undo, engine } = await openBench(t);
        for (const [at, name] of names.slice(0, 3).entries()) {
          mkdirSync(dirname(join(ws, name)), { recursive: true });
          writeFileSync(join(ws, name), `start ${at}\nmore\n`);
          chmodSync(join(ws, name), modes[at] ?? 0o644);
        }
        const pictures: Record<string, string>[] = [];
        for (const [at, actions] of turns.entries()) {
          const [before, listed] = [picture(ws), (await engine.list(SESSION)).length];
          for (const one of actions) {
            const { tool, args } = toCall(ws, one);
            await run(`turn-${at}`, tool, args).catch((error: unknown) => {
              if (!(error instanceof OpenClawError)) throw error;
            });
          }
          const [newest] = await engine.list(SESSION);
          if (newest !== undefined && (await engine.list(SESSION)).length > listed && newest.files.length > 0)
            pictures.push(before);
          turnsRun += 1;
        }
        for (let n = 0; n < k && pictures.length > 0; n += 1) {
          const wanted = pictures.pop();
          await undo();
          undone += 1;
          assert.deepEqual(files(picture(ws)), files(wanted ?? {}));
        }
      },
    ),
    { numRuns: rounds },
  );
  t.diagnostic(`${rounds} runs, ${turnsRun} turns, ${undone} undone, each to the byte`);
});

/** Folders that a turn left empty may stay when others use them; files must match exactly. */
const files = (all: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "/"));
