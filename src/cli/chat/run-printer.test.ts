// Events as they arrive on the wire, and what a terminal shows for them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createIo, type Io } from "../io.ts";
import { readEvent, type RunView } from "./run-events.ts";
import { createRunPrinter, type PrinterOptions } from "./run-printer.ts";
import { argumentsText, toolLine } from "./tool-line.ts";
import { plain } from "../paint.ts";

function screen(): { io: Io; out: () => string; err: () => string } {
  const text = { out: "", err: "" };
  const stream = (name: "out" | "err") => ({
    isTerminal: false,
    columns: 80,
    write: (words: string) => void (text[name] += words),
  });
  const terminal = { env: {}, stdout: stream("out"), stderr: stream("err"), stdinIsTerminal: false };
  const io = createIo(terminal, { profile: undefined, json: false, color: false });
  return { io, out: () => text.out, err: () => text.err };
}

const shown = (views: readonly RunView[], options: Partial<PrinterOptions> = {}): string => {
  const { io, out, err } = screen();
  const printer = createRunPrinter(io, { to: "stdout", full: false, text: true, ...options });
  for (const view of views) printer.show(view);
  return `${out()}${err()}`.replaceAll(/\d+ ms/g, "N ms");
};

const text = (words: string): RunView => ({ kind: "text", text: words });
const final = (words: string): RunView => ({ kind: "final", text: words });
const start: RunView = { kind: "tool-start", id: "1", name: "read", args: { path: "a.md", limit: 2 } };
const end = (isError: boolean, result: string): RunView => ({
  kind: "tool-end",
  id: "1",
  name: "read",
  isError,
  result,
});

test("prints growing text once, and nothing for a late or repeated event", () => {
  assert.equal(shown([text("Hel"), text("Hello"), text("Hel"), text("Hello"), final("Hello")]), "Hello\n");
  assert.equal(shown([final("/status says: fine")]), "/status says: fine\n");
  assert.equal(shown([text("Hel"), final("Hello there")]), "Hello there\n");
  assert.equal(shown([final("")]), "");
});

test("holds back half a character until the other half arrives", () => {
  assert.equal(shown([text("a\ud83d"), text("a\ud83d\ude00"), final("a\ud83d\ude00")]), "a😀\n");
});

test("prints each tool call on one line, between the texts before and after", () => {
  assert.equal(
    shown([text("I look"), start, end(false, "x"), text("Done"), final("Done")]),
    "I look\n⚙ read path=a.md limit=2 … ok, N ms\nDone\n",
  );
  assert.equal(
    shown([start, end(true, "no such\nfile"), final("sorry")]),
    "⚙ read path=a.md limit=2 … failed, N ms: no such file\nsorry\n",
  );
  assert.equal(
    shown([start, end(false, "one\ntwo")], { full: true }),
    "⚙ read path=a.md limit=2 … ok, N ms\n  one\n  two\n",
  );
});

test("does not print the reply again after a notice", () => {
  const notice: RunView = { kind: "notice", text: "cut" };
  assert.equal(shown([text("Done"), notice, final("Done")]), "Done\n· cut\n");
  assert.equal(shown([text("Do"), notice, text("Done"), final("Done")]), "Do\n· cut\nne\n");
  assert.equal(shown([text("Half of"), notice, text("Other"), final("Other")]), "Half of\n· cut\nOther\n");
});

test("says that a run was stopped or failed, with the fix", () => {
  assert.equal(shown([text("Hal"), { kind: "aborted", text: "" }]), "Hal\n(stopped)\n");
  assert.equal(
    shown([text("Hal"), { kind: "error", message: "no key", hint: "openclaw configure" }]),
    "Hal\nno key\nfix: openclaw configure\n",
  );
});

test("without the reply, prints only tool calls and notices, on stderr", () => {
  const { io, out, err } = screen();
  const printer = createRunPrinter(io, { to: "stderr", full: false, text: false });
  for (const view of [text("a"), start, end(false, ""), final("a")]) printer.show(view);
  assert.deepEqual([out(), err().split("\n").length], ["", 2]);
});

test("escapes control characters from a model", () => {
  assert.equal(shown([final("\u001b[2Jgone\u202e")]), "\\u{1b}[2Jgone\\u{202e}\n");
  assert.equal(argumentsText({ command: "a\u001b[0m\nb" }), "command=a\\u{1b}[0m b");
});

test("cuts a tool line to the width of the screen", () => {
  const line = toolLine(
    { name: "exec", args: { command: "x".repeat(500) } },
    { isError: true, result: "y".repeat(500), elapsedMs: 3 },
    80,
    plain,
  );
  assert.ok(line.length <= 80, String(line.length));
  assert.match(line, /^⚙ exec command=x+… … failed, 3 ms: y+…$/);
});

test("reads the recorded event shapes and ignores everything else", () => {
  const base = { runId: "r", sessionKey: "agent:main:main", seq: 1 };
  const message = { role: "assistant", content: [{ type: "text", text: "hi" }], timestamp: 1 };
  const viewOf = (event: string, payload: unknown): RunView | undefined => readEvent(event, payload)?.view;
  assert.deepEqual(readEvent("chat", { ...base, state: "final", message }), {
    runId: "r",
    sessionKey: "agent:main:main",
    view: { kind: "final", text: "hi" },
  });
  assert.deepEqual(viewOf("chat", { ...base, state: "final" }), { kind: "final", text: "" });
  assert.deepEqual(viewOf("chat", { ...base, state: "aborted", stopReason: "rpc" }), { kind: "aborted", text: "" });
  const error = { code: "model.auth", message: "no key", hint: "openclaw configure" };
  assert.deepEqual(viewOf("chat", { ...base, state: "error", errorMessage: "no key", error }), {
    kind: "error",
    message: "no key",
    hint: "openclaw configure",
  });
  assert.equal(viewOf("chat", { ...base, state: "delta", message }), undefined);
  assert.deepEqual(viewOf("agent", { ...base, stream: "assistant", data: { text: "hi", delta: "i" } }), text("hi"));
  assert.deepEqual(
    viewOf("agent", { ...base, stream: "tool", data: { phase: "start", name: "read", toolCallId: "1", args: {} } }),
    { kind: "tool-start", id: "1", name: "read", args: {} },
  );
  const result = { content: [{ type: "text", text: "out" }] };
  assert.deepEqual(
    viewOf("agent", {
      ...base,
      stream: "tool",
      data: { phase: "result", name: "read", toolCallId: "1", isError: true, result },
    }),
    end(true, "out"),
  );
  for (const payload of [
    undefined,
    null,
    5,
    "x",
    [],
    {},
    { runId: 5 },
    { runId: "r" },
    { runId: "r", stream: "tool", data: 7 },
  ])
    for (const event of ["chat", "agent", "tick"]) assert.equal(readEvent(event, payload), undefined);
});
