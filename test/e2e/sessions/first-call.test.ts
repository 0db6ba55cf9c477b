// Everyday tasks with the first call that a model writes from the schemas alone. Each call uses only advertised
// parameters, is accepted in a fresh session, and does what the schema says.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call as toolCall, say } from "../../fakes/openai.ts";
import { call as invokeTool, until } from "../../harness/exec.ts";
import { chat, openScripted, type ScriptedGateway } from "../../harness/model.ts";

type Args = Record<string, unknown>;

interface Task {
  readonly task: string;
  readonly tool: string;
  /** The arguments, or how to make them in the session where a command or a job exists already. */
  readonly args: Args | ((session: string) => Promise<Args>);
  readonly result: RegExp;
  /** `agent:main:main` where the task needs the owner's main session; else a fresh one. */
  readonly session?: string;
  check?(): void;
}

let runtime: ScriptedGateway;
const inWorkspace = (name: string): string => join(runtime.gateway.workspace, name);
const textOf = (name: string): string => readFileSync(inWorkspace(name), "utf8");

/** Starts a command in the background and returns the name that exec gives it. */
async function background(session: string, command: string, options: Args = {}): Promise<string> {
  const { details, text } = await invokeTool(
    runtime.gateway,
    "exec",
    { command, background: true, ...options },
    { body: { sessionKey: session } },
  );
  assert.equal(typeof details["sessionId"], "string", text);
  return String(details["sessionId"]);
}

async function job(session: string): Promise<string> {
  const { details, text } = await invokeTool(
    runtime.gateway,
    "cron",
    {
      action: "add",
      job: {
        name: "sample",
        schedule: { kind: "every", everyMs: 3_600_000 },
        payload: { kind: "exec", command: "true" },
      },
    },
    { body: { sessionKey: session } },
  );
  assert.equal(typeof details["id"], "string", text);
  return String(details["id"]);
}

const main = "agent:main:main";
const tasks: readonly Task[] = [
  { task: "What is in notes.txt?", tool: "read", args: { path: "notes.txt" }, result: /^milk\neggs/ },
  {
    task: "Show lines 100 to 120 of big.log.",
    tool: "read",
    args: { path: "big.log", offset: 100, limit: 21 },
    result: /^line 100\n[\s\S]*line 120\n\n\[lines 100 to 120 of 3000; continue with offset 121\]$/,
  },
  {
    task: "Read all of big.log.",
    tool: "read",
    args: { path: "big.log" },
    result: /\[lines 1 to 2000 of 3000; continue with offset 2001\]$/,
  },
  {
    task: "Write a shopping list with bread and cheese to lists/shopping.md.",
    tool: "write",
    args: { path: "lists/shopping.md", content: "- bread\n- cheese\n" },
    result: /^Created .*shopping\.md \(17 bytes\)/,
    check: () => assert.equal(textOf("lists/shopping.md"), "- bread\n- cheese\n"),
  },
  {
    task: "Replace draft.txt by the single line 'final'.",
    tool: "write",
    args: { path: "draft.txt", content: "final\n" },
    result: /^Replaced .*draft\.txt/,
    check: () => assert.equal(textOf("draft.txt"), "final\n"),
  },
  {
    task: "Fix the typo 'recieve' in letter.txt.",
    tool: "edit",
    args: { path: "letter.txt", oldText: "recieve", newText: "receive" },
    result: /^Edited .*letter\.txt/,
    check: () => assert.match(textOf("letter.txt"), /We receive it/),
  },
  {
    task: "Remove the line with the phone number from contact.txt.",
    tool: "edit",
    args: { path: "contact.txt", oldText: "Phone: 555-0100\n", newText: "" },
    result: /^Edited .*contact\.txt/,
    check: () => assert.equal(textOf("contact.txt"), "Name: Ada\nCity: Lisbon\n"),
  },
  { task: "How many lines has big.log?", tool: "exec", args: { command: "wc -l big.log" }, result: /^3000 big\.log/ },
  {
    task: "List the files in the folder app.",
    tool: "exec",
    args: { command: "ls", workdir: "app" },
    result: /^main\.js/,
  },
  {
    task: "Run show.sh with MODE set to fast.",
    tool: "exec",
    args: { command: "sh show.sh", env: { MODE: "fast" } },
    result: /^mode is fast/,
  },
  {
    task: "Start a server in the background.",
    tool: "exec",
    args: { command: "echo ready; sleep 20", background: true },
    result: /process/,
  },
  {
    task: "Run the check, but give up after one second.",
    tool: "exec",
    args: { command: "echo started; sleep 20", timeout: 1 },
    result: /started\n\n\[ended after 1 s/,
  },
  {
    task: "Run the build and wait up to a minute for it.",
    tool: "exec",
    args: { command: "sleep 0.2; echo built", yieldMs: 60_000 },
    result: /^built/,
  },
  {
    task: "Does this program see a terminal?",
    tool: "exec",
    args: { command: "test -t 0 && echo terminal", pty: true },
    result: /terminal/,
  },
  {
    task: "Which commands run in the background?",
    tool: "process",
    args: async (session) => (await background(session, "sleep 20"), { action: "list" }),
    result: /running .* :: sleep 20/,
  },
  {
    task: "Is the build finished, and what did it print?",
    tool: "process",
    args: async (session) => {
      const sessionId = await background(session, "echo all good");
      await until(
        () => invokeTool(runtime.gateway, "process", { action: "list" }, { body: { sessionKey: session } }),
        ({ text }) => /completed/.test(text),
      );
      return { action: "poll", sessionId };
    },
    result: /^all good\n\nProcess exited with code 0\.$/,
  },
  {
    task: "Show lines 11 to 15 of the output.",
    tool: "process",
    args: async (session) => {
      const sessionId = await background(session, "seq 1 100; sleep 20");
      await until(
        () => invokeTool(runtime.gateway, "process", { action: "log", sessionId }, { body: { sessionKey: session } }),
        ({ text }) => text.endsWith("100"),
      );
      return { action: "log", sessionId, offset: 10, limit: 5 };
    },
    result: /^\[offset 10 to 14 of 100; continue with offset 15\]\n11\n12\n13\n14\n15$/,
  },
  {
    task: "The installer asks whether to go on: answer yes.",
    tool: "process",
    args: async (session) => ({
      action: "submit",
      sessionId: await background(session, "read answer && echo got $answer; sleep 20"),
      data: "yes",
    }),
    result: /^Submitted\.$/,
  },
  {
    task: "Press Ctrl-C in the running program.",
    tool: "process",
    args: async (session) => ({
      action: "send-keys",
      sessionId: await background(session, "sleep 20", { pty: true }),
      keys: ["C-c"],
    }),
    result: /^Sent 1 byte\.$/,
  },
  {
    task: "Stop the server.",
    tool: "process",
    args: async (session) => ({ action: "kill", sessionId: await background(session, "sleep 20") }),
    result: /^Killed /,
  },
  {
    task: "Which conversations were active in the last hour? Show the last message of each.",
    tool: "sessions_list",
    args: { activeMinutes: 60, messageLimit: 1 },
    result: /"count": \d+/,
  },
  {
    task: "What did we discuss in the main session?",
    tool: "sessions_history",
    args: { sessionKey: "main", limit: 5 },
    result: /"sessionKey": "agent:main:main"/,
  },
  {
    task: "Tell the helper agent that dinner is at eight; no need to wait.",
    tool: "sessions_send",
    args: { sessionKey: "agent:helper:main", message: "Dinner is at eight.", timeoutSeconds: 0 },
    result: /"status": "accepted"/,
  },
  {
    task: "Let a subagent summarize big.log, for at most five minutes.",
    tool: "sessions_spawn",
    args: { task: "Read big.log in the workspace and summarize it.", label: "summary", runTimeoutSeconds: 300 },
    result: /"status": "accepted"/,
  },
  { task: "What time is it?", tool: "session_status", args: {}, result: /^Time: .*\(UTC\)/m },
  {
    task: "Use fake/fake-1 for this conversation.",
    tool: "session_status",
    args: { model: "fake/fake-1" },
    result: /^Model: fake\/fake-1 \(set for this session\)/m,
  },
  { task: "Which agents can take a task?", tool: "agents_list", args: {}, result: /"id": "helper"/ },
  {
    task: "What is the name of Ada's dog?",
    tool: "memory_search",
    args: { query: "name of Ada's dog" },
    result: /Biscuit/,
    session: main,
  },
  {
    task: "What do my notes say about submarines?",
    tool: "memory_search",
    args: { query: "submarines", minScore: 0.9 },
    result: /No note matches\. Only MEMORY\.md and the files in memory\/ were searched/,
    session: main,
  },
  {
    task: "Read the second line of the note of January 31, 2030.",
    tool: "memory_get",
    args: { path: "memory/2030-01-31.md", from: 2, lines: 1 },
    result: /Ada moved to Lisbon/,
    session: main,
  },
  {
    task: "Remind me in 20 minutes to take the bread out.",
    tool: "cron",
    args: {
      action: "add",
      job: {
        name: "Bread",
        schedule: { kind: "at", at: "20m" },
        payload: { kind: "systemEvent", text: "Remind the owner to take the bread out of the oven." },
      },
    },
    result: /"kind": "at"[\s\S]*"kind": "systemEvent"/,
    session: main,
  },
  {
    task: "Every weekday at 8:30 Berlin time, summarize my notes.",
    tool: "cron",
    args: {
      action: "add",
      job: {
        name: "Morning summary",
        schedule: { kind: "cron", expr: "30 8 * * 1-5", tz: "Europe/Berlin" },
        payload: { kind: "agentTurn", message: "Read notes.txt in the workspace and summarize it." },
      },
    },
    result: /"expr": "30 8 \* \* 1-5"[\s\S]*"kind": "agentTurn"/,
    session: main,
  },
  {
    task: "Run backup.sh every hour, without any message.",
    tool: "cron",
    args: {
      action: "add",
      job: {
        name: "Backup",
        schedule: { kind: "every", everyMs: 3_600_000 },
        payload: { kind: "exec", command: "sh backup.sh" },
        delivery: { mode: "none" },
      },
    },
    result: /"everyMs": 3600000[\s\S]*"kind": "exec"/,
    session: main,
  },
  {
    task: "Which jobs exist, including disabled ones?",
    tool: "cron",
    args: { action: "list", includeDisabled: true },
    result: /"jobs": \[/,
    session: main,
  },
  {
    task: "Pause that job.",
    tool: "cron",
    args: async () => ({ action: "update", jobId: await job(main), patch: { enabled: false } }),
    result: /"enabled": false/,
    session: main,
  },
  {
    task: "Run that job now.",
    tool: "cron",
    args: async () => ({ action: "run", jobId: await job(main) }),
    result: /"ran": true/,
    session: main,
  },
  {
    task: "How did the last three runs of that job go?",
    tool: "cron",
    args: async () => ({ action: "runs", jobId: await job(main), limit: 3 }),
    result: /"entries": \[/,
    session: main,
  },
  {
    task: "Delete that job.",
    tool: "cron",
    args: async () => ({ action: "remove", jobId: await job(main) }),
    result: /"removed": true/,
    session: main,
  },
  {
    task: "How are commands configured?",
    tool: "gateway",
    args: { action: "config.get", path: "tools" },
    result: /agentToAgent/,
    session: main,
  },
  {
    task: "Which settings does the ui section have?",
    tool: "gateway",
    args: { action: "config.schema", path: "ui" },
    result: /assistant/,
    session: main,
  },
  {
    task: "Change your display name to Ada.",
    tool: "gateway",
    args: { action: "config.patch", raw: "{ui:{assistant:{name:'Ada'}}}" },
    result: /Written/,
    session: main,
  },
];

/** A session model makes one call for the task, then ends the turn. Returns the result as the model reads it. */
async function firstCall({ tool, session }: Task, args: Args, id: string): Promise<{ text: string; shown: unknown }> {
  let shown: unknown;
  let text: string | undefined;
  runtime.script = ({ role, content }, request) => {
    if (role === "tool") {
      text ??= typeof content === "string" ? content : JSON.stringify(content);
      return say("done");
    }
    if (text !== undefined || !JSON.stringify(content).includes(id)) return say("NO_REPLY");
    const { tools } = request.body as { tools: { function: { name: string; parameters: unknown } }[] };
    shown = tools.find(({ function: f }) => f.name === tool)?.function.parameters;
    return toolCall(tool, args);
  };
  await chat(runtime.wire, session ?? `agent:main:${id}`, `Task ${id}`, id);
  return { text: text ?? "(the call has no result)", shown };
}

describe("a first call written from the schema", () => {
  before(async () => {
    runtime = await openScripted({
      agents: {
        defaults: { model: { primary: "fake/fake-1" }, userTimezone: "UTC" },
        list: [{ id: "main", default: true, subagents: { allowAgents: ["helper"] } }, { id: "helper" }],
      },
      tools: { agentToAgent: { enabled: true, allow: ["main", "helper"] } },
    });
    for (const folder of ["app", "memory"]) mkdirSync(inWorkspace(folder));
    const files: Record<string, string> = {
      "notes.txt": "milk\neggs\n",
      "big.log": Array.from({ length: 3000 }, (_, at) => `line ${at + 1}\n`).join(""),
      "draft.txt": "first\nsecond\n",
      "letter.txt": "We recieve it.\n",
      "contact.txt": "Name: Ada\nPhone: 555-0100\nCity: Lisbon\n",
      "app/main.js": "",
      "show.sh": 'echo "mode is $MODE"\n',
      "backup.sh": "true\n",
      "MEMORY.md": "# People\nAda has a dog named Biscuit.\n",
      "memory/2030-01-31.md": "# January 31\nAda moved to Lisbon.\n",
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(inWorkspace(name), content);
    await chat(runtime.wire, main, "hello", "hello");
  });
  after(() => runtime.close());

  for (const [index, one] of tasks.entries())
    test(`${one.tool}: ${one.task}`, async () => {
      const id = `task-${index}`;
      const args = typeof one.args === "function" ? await one.args(one.session ?? `agent:main:${id}`) : one.args;
      const { text, shown } = await firstCall(one, args, id);
      const { properties, required = [] } = shown as { properties: Args; required?: string[] };
      for (const name of Object.keys(args)) assert.ok(Object.hasOwn(properties, name), `${name} is not advertised`);
      for (const name of required) assert.ok(Object.hasOwn(args, name), `${name} is required`);
      assert.match(text, one.result);
      one.check?.();
    });
});
