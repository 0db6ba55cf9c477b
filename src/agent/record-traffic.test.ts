// Recordings are masked and private; a replay finds no difference, or names the first one.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { ToolError } from "../core/error.ts";
import type { Message, UserMessage } from "../core/message.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { createMask } from "../base/mask.ts";
import type { ModelFacts, ModelRequest } from "../model/model.ts";
import type { CallTool } from "../tool/call.ts";
import type { Subject } from "../tool/subject.ts";
import type { StreamModel, TurnEvent } from "./deps.ts";
import { sendable } from "./turn-model.ts";
import { runLoop, type LoopPorts } from "./loop.ts";
import { openRecording, recordEnds, recordingCall, recordingModel } from "./record-traffic.ts";
import { readRecording, type RecordLine } from "./recording.ts";
import { replay } from "./replay.ts";
import { answerOfError } from "./result.ts";

const secret = "correct-horse-battery-staple";
const session = "agent:main:main" as SessionKey;
const ref = { provider: "fake", id: "one" };
const facts: ModelFacts = {
  name: "one",
  contextWindow: 8000,
  maxTokens: 100,
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const tool = (name: string) => ({ name, description: name, parameters: { type: "object" } });
const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 7 });

type Script = readonly (readonly TurnEvent[])[];

const call = (id: string, name: string, args: object): TurnEvent => ({
  type: "tool-call",
  id,
  name,
  arguments: JSON.stringify(args),
});
const say = (...deltas: readonly string[]): TurnEvent[] => deltas.map((delta) => ({ type: "text", delta }));
const end = (stop: "stop" | "tool-calls"): TurnEvent => ({ type: "end", stop, usage });

/** A model that answers by script and asks for its request as a vendor's wire does. */
function scripted(script: Script): StreamModel {
  let at = 0;
  return async function* (turn) {
    yield { type: "model", ref, facts };
    turn.request(ref, facts);
    yield* script[at++] ?? [];
  };
}

const tools: CallTool = async ({ tool: name, args }) => {
  if (name === "read") return { content: [{ type: "text", text: `the key is ${secret}` }], details: { args } };
  throw new ToolError("tool.refused", `${name}: no rule allows it`, { hint: "openclaw tools explain exec" });
};

interface Plan {
  readonly runId: string;
  readonly start: readonly Message[];
  readonly script: Script;
  readonly steer?: () => readonly UserMessage[];
  /** Summarizes with the model, as a turn does when the messages do not fit. */
  readonly shrinks?: boolean;
  readonly clientTool?: string;
}

/** Runs turns through the loop with both ports recorded, as a turn does. */
async function record(folder: string, plans: readonly Plan[]): Promise<string> {
  const sink = openRecording(folder, createMask([secret]));
  const listeners: ((event: never) => void)[] = [];
  recordEnds({ watch: (listener) => (listeners.push(listener as never), () => {}) }, sink);
  let clock = 1000;
  for (const { runId, start, script, steer = () => [], shrinks = false, clientTool } of plans) {
    const stream = recordingModel(scripted(script), sink);
    const callTool = recordingCall(tools, sink);
    const subject = { agent: "main", session } as unknown as Subject;
    const request = (messages: readonly Message[]): ModelRequest => ({
      system: "You help.",
      messages: sendable(messages, facts),
      tools: [tool("read"), tool("exec")],
      thinking: "off",
      maxTokens: 100,
      cacheKey: "s-1",
    });
    const ports: LoopPorts = {
      model: (messages, signal) =>
        stream({ agentId: "main" as AgentId, signal, sessionKey: session, runId, request: () => request(messages) }),
      callTool: ({ name, args }, signal) =>
        callTool({ tool: name, args, subject, caller: "agent", signal }).then(
          (result) => ({ ...result, isError: false }),
          (error: unknown) => answerOfError(name, error),
        ),
      append: () => {},
      save: async () => {},
      emit: () => {},
      steer,
      async overflow(messages, _attempt) {
        if (!shrinks) return undefined;
        const plain = { ...request(messages), system: "Sum it up.", tools: [] };
        const { signal } = new AbortController();
        const named = { agentId: "main" as AgentId, sessionKey: session, runId };
        let summary = "";
        for await (const event of stream({ ...named, signal, request: () => plain }))
          if (event.type === "text") summary += event.delta;
        return [user(summary)];
      },
      reserve: async () => undefined,
      now: () => (clock += 5),
      isReadOnly: ({ name }) => name === "read",
      isClientTool: (name) => name === clientTool,
    };
    const { status, failure } = await runLoop(start, ports, new AbortController().signal);
    const outcome = { status, ...(failure === undefined ? {} : { failure }) };
    const event = { runId, sessionKey: session, body: { stream: "lifecycle", phase: "end", outcome } };
    for (const listener of listeners) listener(event as never);
  }
  const [file = ""] = readdirSync(folder);
  return join(folder, file);
}

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-record-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "recordings");
}

const conversation: readonly Plan[] = [
  {
    runId: "r1",
    start: [user("read it")],
    script: [
      [
        ...say("I ", "look: ", secret.slice(0, 9), secret.slice(9)),
        call("c1", "read", { path: "a" }),
        call("c2", "read", { path: "b" }),
        end("tool-calls"),
      ],
      [call("c3", "exec", { command: "ls" }), end("tool-calls")],
      [...say("done"), end("stop")],
    ],
  },
  { runId: "r2", start: [user("and again")], script: [[...say("hello"), end("stop")]] },
];

/** The file with one line changed. */
function tampered(file: string, change: (line: RecordLine) => RecordLine | undefined): string {
  const lines = readRecording(file).flatMap((line) => {
    const next = change(line);
    return next === undefined ? [] : [JSON.stringify(next)];
  });
  const copy = `${file}.tampered`;
  writeFileSync(copy, `${lines.join("\n")}\n`);
  return copy;
}

test("replays a recorded session without a difference", async (t) => {
  const file = await record(tempFolder(t), conversation);
  assert.deepEqual(await replay(file), { same: true, runs: 2, turns: 4, calls: 3 });
});

test("writes a private file without secrets, also when a secret is streamed in pieces", async (t) => {
  const folder = tempFolder(t);
  const file = await record(folder, conversation);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700]);
  const text = readFileSync(file, "utf8");
  assert.equal(text.includes(secret), false);
  assert.ok(text.includes("corr…le"), "what was there is still to be seen");
});

test("inserts a steering message at the same position in a replay", async (t) => {
  let asked = 0;
  const file = await record(tempFolder(t), [
    {
      runId: "r1",
      start: [user("go")],
      script: [
        [
          call("c1", "exec", { command: "1" }),
          call("c2", "exec", { command: "2" }),
          call("c3", "exec", { command: "3" }),
          end("tool-calls"),
        ],
        [...say("ok"), end("stop")],
      ],
      steer: () => (++asked === 2 ? [user("stop that")] : []),
    },
  ]);
  assert.deepEqual(await replay(file), { same: true, runs: 1, turns: 2, calls: 2 });
});

test("replays a failover, malformed arguments and a repeated call without a difference", async (t) => {
  const again = (id: string): readonly TurnEvent[] => [call(id, "read", { path: "x" }), end("tool-calls")];
  const file = await record(tempFolder(t), [
    {
      runId: "r1",
      start: [user("go")],
      script: [
        [
          { type: "notice", text: "one failed" },
          { type: "model", ref: { provider: "fake", id: "two" }, facts },
          { type: "tool-call", id: "c1", name: "read", arguments: "{not json" },
          end("tool-calls"),
        ],
        [...say("ok"), end("stop")],
      ],
    },
    { runId: "r2", start: [user("loop")], script: ["a", "b", "c", "d", "e", "f"].map(again) },
    {
      runId: "r3",
      start: [user("fail")],
      script: [[{ type: "error", error: { kind: "overloaded", message: "503" } }]],
    },
  ]);
  const report = await replay(file);
  assert.deepEqual([report.same, report.runs], [true, 3]);
});

test("replays a summary during a run and a tool of the caller without a difference", async (t) => {
  const file = await record(tempFolder(t), [
    {
      runId: "r1",
      start: [user("a lot"), user("of words")],
      shrinks: true,
      script: [
        [call("c1", "read", { path: "a" }), end("tool-calls")],
        [{ type: "error", error: { kind: "context", message: "too long" } }],
        [...say("they said a lot"), end("stop")],
        [...say("ok"), end("stop")],
      ],
    },
    {
      runId: "r2",
      start: [user("where am I")],
      clientTool: "locate",
      script: [[call("c1", "locate", {}), end("tool-calls")]],
    },
  ]);
  const report = await replay(file);
  assert.deepEqual([report.same, report.runs, report.calls], [true, 2, 1], JSON.stringify(report));
});

test("names the first difference: request, arguments, order, end", async (t) => {
  const file = await record(tempFolder(t), conversation);
  const request = tampered(file, (line) =>
    line.type === "request" && line.turn === 2
      ? { ...line, request: { ...line.request, messages: line.request.messages.with(0, user("read that")) } }
      : line,
  );
  assert.deepEqual((await replay(request)).difference, {
    where: "turn 2, the request",
    path: "messages[0].content[0].text",
    recorded: '"read that"',
    now: '"read it"',
  });
  const argument = tampered(file, (line) =>
    line.type === "call" && line.call === 2 ? { ...line, args: { path: "z" } } : line,
  );
  assert.deepEqual((await replay(argument)).difference, {
    where: "turn 1, tool call 2",
    path: "args.path",
    recorded: '"z"',
    now: '"b"',
  });
  const missing = tampered(file, (line) => (line.type === "call" && line.call === 3 ? undefined : line));
  assert.deepEqual((await replay(missing)).difference, {
    where: "turn 2, tool call 1",
    path: "",
    recorded: "(no call)",
    now: 'exec {"command":"ls"}',
  });
  const longer = tampered(file, (line) =>
    line.type === "answer" && line.turn === 2 ? { ...line, events: [...say("done early"), end("stop")] } : line,
  );
  assert.deepEqual((await replay(longer)).difference, {
    where: "turn 3",
    path: "",
    recorded: "a request to the model",
    now: "the run ended (ok)",
  });
  const shorter = tampered(file, (line) => ("turn" in line && line.turn === 3 ? undefined : line));
  assert.deepEqual((await replay(shorter)).difference, {
    where: "after turn 2",
    path: "",
    recorded: "the run ended",
    now: "a request to the model",
  });
});

test("replays the complete lines of a recording whose gateway was killed", async (t) => {
  const file = await record(tempFolder(t), conversation);
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n");
  const upTo = lines.findIndex((line) => line.includes('"type":"request","turn":3'));
  writeFileSync(file, `${lines.slice(0, upTo).join("\n")}\n${(lines[upTo] ?? "").slice(0, 40)}`);
  assert.deepEqual(await replay(file), { same: true, runs: 1, turns: 2, calls: 3 });
});

test("rejects a file that is not a recording, with the line", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-record-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "x.jsonl");
  const head = '{"type":"recording","version":1,"session":"s","at":1}\n';
  const cases: readonly (readonly [string, string])[] = [
    ["", ":1 cannot be replayed: it does not begin with the line of a recording"],
    ["not json\n", ":1 cannot be replayed: it is not JSON"],
    [
      '{"type":"recording","version":9,"session":"s"}\n',
      ":1 cannot be replayed: it has version 9, this program reads 1",
    ],
    [`${head}{"type":"dance"}\n{}\n`, ":2 cannot be replayed: its type is unknown"],
    [
      `${head}{"type":"request","turn":1,"run":"r","ref":{},"facts":{},"request":{}}\n`,
      ":2 cannot be replayed: its request has no messages",
    ],
  ];
  for (const [text, why] of cases) {
    writeFileSync(file, text);
    await assert.rejects(replay(file), { code: "replay.bad-file", message: `${file}${why}` });
  }
  await assert.rejects(replay(join(folder, "none")), { code: "replay.missing" });
});

test("logs a folder that cannot be written once, and the run continues", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-record-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  const errors: unknown[] = [];
  const sink = openRecording(join(file, "inside"), createMask(), (error) => errors.push(error));
  const stream = recordingModel(scripted([[...say("hi"), end("stop")]]), sink);
  const types: string[] = [];
  const request = { system: "", messages: [], tools: [], thinking: "off", maxTokens: 1, cacheKey: "k" } as const;
  const turn = { agentId: "main" as AgentId, signal: new AbortController().signal, request: () => request };
  for await (const event of stream(turn)) types.push(event.type);
  assert.deepEqual([types, errors.length], [["model", "text", "end"], 1]);
});
