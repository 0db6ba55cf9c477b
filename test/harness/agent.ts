// What tests of the agent share: agents with real store and tools, and a model that says what the test wrote.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Agents } from "../../src/agent/agent.ts";
import type { TurnRequest } from "../../src/session/turns.ts";
import type { AgentsDeps } from "../../src/agent/deps.ts";
import type { Direct } from "../../src/agent/direct.ts";
import { createAgents } from "../../src/agent/runner.ts";
import { openCatalog } from "../../src/app/catalog.ts";
import { openExec } from "../../src/app/exec.ts";
import { createSettings } from "../../src/config/live-settings.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { createMask } from "../../src/base/mask.ts";
import { resolvePaths } from "../../src/base/paths.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { RunEvent } from "../../src/core/event.ts";
import type { SessionKey } from "../../src/core/names.ts";
import type { Message, Usage } from "../../src/core/message.ts";
import type { ModelBook, ModelEvent, ModelFacts, ModelFailure, ModelRequest } from "../../src/model/model.ts";
import type { SystemEvents } from "../../src/session/system-events.ts";
import { openStore } from "../../src/store/builtin.ts";
import type { Store } from "../../src/store/store.ts";
import { createCallTool, createRecallTool } from "../../src/tool/call.ts";

export const MAIN = "agent:main:main" as SessionKey;

/** What the model says to one request. */
export type Say = readonly (ModelEvent | { readonly waitMs: number } | "hang")[];
export type Script = (request: ModelRequest, index: number) => Say | Promise<Say>;

export const usage = (input = 10, output = 5): Usage => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
});
export const text = (words: string): Say => [
  ...words.split(/(?<= )/).map((delta): ModelEvent => ({ type: "text", delta })),
  { type: "end", stop: "stop", usage: usage() },
];
export const calls = (...made: readonly [name: string, args: unknown, id?: string][]): Say => [
  ...made.map(([name, args, id], index): ModelEvent => ({
    type: "tool-call",
    id: id ?? `call_${index}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
  { type: "end", stop: "tool-calls", usage: usage() },
];
export const failing = (kind: ModelFailure["kind"], message = `a ${kind} failure`): Say => [
  { type: "error", error: { kind, message } },
];

export const facts: ModelFacts = {
  name: "Scripted",
  contextWindow: 200_000,
  maxTokens: 8192,
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 },
};

export interface ScriptedBook extends ModelBook {
  readonly requests: ModelRequest[];
}

export function scriptedBook(script: Script, own: Partial<ModelFacts> = {}, ids = ["scripted"]): ScriptedBook {
  const requests: ModelRequest[] = [];
  const known = { ...facts, ...own };
  return {
    requests,
    candidates: async () => ids.map((id) => ({ provider: "fake", id })),
    open: async (ref) => ({
      provider: ref.provider,
      id: ref.id,
      facts: known,
      async *stream(request, signal) {
        requests.push(request);
        yield* play(await script(request, requests.length - 1), signal);
      },
    }),
    report: async () => {},
    facts: () => known,
    imageModels: () => [],
    endpoint: async () => undefined,
    list: async () => [],
  };
}

async function* play(say: Say, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const stopped: ModelEvent = { type: "error", error: { kind: "aborted", message: "stopped" } };
  for (const event of say) {
    if (event === "hang")
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    else if ("waitMs" in event) await sleep(event.waitMs, undefined, { signal }).catch(() => {});
    else if (!signal.aborted) yield event;
    if (signal.aborted) return yield stopped;
  }
}

export interface TestAgents {
  readonly agents: Agents;
  readonly store: Store;
  readonly state: string;
  readonly workspace: string;
  readonly events: RunEvent[];
  /** Notices for sessions. */
  readonly lines: SystemEvents;
  readonly send: (words: string, more?: Partial<TurnRequest>) => Promise<string>;
  readonly ask: (
    words: string,
    more?: Partial<TurnRequest>,
  ) => Promise<NonNullable<Awaited<ReturnType<Agents["wait"]>>>>;
  readonly messages: (key?: SessionKey) => Promise<Message[]>;
  /** As after an orderly stop: the same folder, opened again. */
  reopen(): Promise<TestAgents>;
  close(): Promise<void>;
}

export interface TestAgentsPlan {
  readonly models: ModelBook;
  readonly config?: Record<string, unknown>;
  readonly direct?: Direct;
  readonly state?: string;
  readonly more?: Partial<AgentsDeps>;
  /** Wraps the store before it is used. */
  readonly wrap?: (store: Store) => Store;
}

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };
export const noCommands: Direct = async (words) => ({ kind: "turn", text: words, notes: [], once: {} });

let count = 0;

export async function openTestAgents(plan: TestAgentsPlan): Promise<TestAgents> {
  const state = plan.state ?? mkdtempSync(join(tmpdir(), "openclaw-agent-"));
  const workspace = join(state, "workspace");
  mkdirSync(workspace, { recursive: true });
  const env = { HOME: state, OPENCLAW_STATE_DIR: state };
  const paths = resolvePaths(env);
  if (plan.config !== undefined || plan.state === undefined)
    writeFileSync(paths.config, JSON.stringify(plan.config ?? {}), { mode: 0o600 });
  const loaded = loadConfig({ paths, env });
  if (!loaded.valid) throw new Error(JSON.stringify(loaded.issues));
  const settings = createSettings(paths, env, loaded);
  const real = await openStore({ file: join(state, "store.db"), onDamage: () => {} });
  const store = plan.wrap?.(real) ?? real;
  const mask = createMask();
  const commands = openExec({
    paths,
    configFiles: () => settings.loaded().files,
    env: { ...env, PATH: process.env["PATH"] },
    store,
    log: silent,
    mask,
    config: () => settings.now().config,
    recallTool: (asker) => createRecallTool(calls)(asker),
  });
  const catalog = openCatalog(paths, store, settings.now, commands, plan.models);
  const config = () => settings.now().config;
  const calls = { catalog, journal: store.journal, mask, log: silent, clock: systemClock, config };
  const callTool = createCallTool(calls);
  const agents = await createAgents({
    store,
    catalog,
    callTool,
    models: plan.models,
    direct: plan.direct ?? noCommands,
    config: () => settings.now().config,
    paths,
    clock: systemClock,
    log: silent,
    mask,
    systemEvents: commands.events,
    ...plan.more,
  });
  const events: RunEvent[] = [];
  agents.watch((event) => events.push(event));
  const send = async (words: string, more: Partial<TurnRequest> = {}): Promise<string> => {
    const runId = more.runId ?? `run-${process.pid}-${++count}`;
    await agents.post({ runId, sessionKey: MAIN, text: words, source: "agent", authorised: true, ...more });
    return runId;
  };
  return {
    agents,
    store,
    state,
    workspace,
    events,
    lines: commands.events,
    send,
    async ask(words, more) {
      const outcome = await agents.wait(await send(words, more), 60_000);
      if (outcome === undefined) throw new Error(`no outcome for ${JSON.stringify(words)}`);
      return outcome;
    },
    async messages(key = MAIN) {
      const record = await store.sessions.get(key);
      if (record === undefined) return [];
      const entries = await store.transcript.tail(record.sessionId, 1000);
      return entries.flatMap(({ type, body }) => (type === "message" ? [body as Message] : []));
    },
    async reopen() {
      await agents.close();
      await commands.close();
      await store.close();
      return openTestAgents({ ...plan, state });
    },
    async close() {
      await agents.close();
      await commands.close();
      await store.close();
      rmSync(state, { recursive: true, force: true });
    },
  };
}
