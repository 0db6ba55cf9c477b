// A test fixture for chat commands: a real store, real tools and the real policy.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after } from "node:test";

import type { AgentId, SessionKey } from "../core/names.ts";
import { createLedger, type Ledger } from "../agent/ledger.ts";
import { createLanes } from "../base/lane.ts";
import { createMask } from "../base/mask.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/schema/index.ts";
import { createApprovalBroker, type ApprovalBroker } from "../approval/broker.ts";
import type { Exec } from "../exec/exec.ts";
import type { ProcessTable } from "../exec/processes.ts";
import type { BrowserControl } from "../browser/control.ts";
import type { Extraction } from "../media/extract/extract.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import type { Memory } from "../memory/memory.ts";
import type { ModelBook, ModelFacts, ModelRef } from "../model/model.ts";
import { entryOf } from "../session/session.ts";
import { newStoreFile } from "../store/cases/files.cases.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { builtinTools } from "../tool/builtin.ts";
import { createCallTool } from "../tool/call.ts";
import { createCatalog } from "../tool/catalog.ts";
import { createLateServices } from "../tool/gateway-services.ts";
import type { CommandContext, Directed, OnceSettings } from "../agent/direct.ts";
import { createDirect } from "./direct.ts";
import type { DirectDeps } from "./command-run.ts";

export const key = "agent:main:main" as SessionKey;
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

export const models = ["openai/gpt-5.2", "anthropic/claude", "openai/mini"];

/** A message that goes on to the model. */
export const turn = (text: string, once: OnceSettings = {}, notes: string[] = []): Directed => ({
  kind: "turn",
  text,
  notes,
  once,
});

const clock = { now: () => NOW, ticks: () => 0 };

const facts: ModelFacts = {
  name: "a model",
  contextWindow: 200_000,
  maxTokens: 8192,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
};

export interface ChatOptions {
  readonly config?: Config;
  /** `provider/model`; the first is the default. */
  readonly models?: readonly string[];
  /** Known, but without a credential. */
  readonly keyless?: readonly string[];
  /** Run ids at work besides the one that carries the command. */
  readonly running?: readonly string[];
}

export interface Chat {
  say(text: string, context?: Partial<CommandContext>): Promise<Directed>;
  /** The text of an answer; fails for a turn. */
  answer(text: string, context?: Partial<CommandContext>): Promise<string>;
  entry(): Promise<Record<string, unknown>>;
  readonly store: Store;
  readonly workspace: string;
  /** What the agents were asked. */
  readonly asked: string[];
  readonly running: Set<string>;
  readonly ledger: Ledger;
  readonly approvals: ApprovalBroker;
}

export async function openChat(options: ChatOptions = {}): Promise<Chat> {
  const file = newStoreFile();
  const store = await openSqliteStore({ file });
  after(() => store.close());
  const workspace = join(dirname(file), "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "hello.txt"), "hello from a file\n");
  const asked: string[] = [];
  const running = new Set(["own", ...(options.running ?? [])]);
  const ledger = createLedger(store, clock);
  const approvals = createApprovalBroker({ store, clock, log: quiet });
  const deps = portsOf({
    ...options,
    approvals,
    ledger,
    store,
    workspace,
    asked,
    active: running,
    folder: dirname(file),
  });
  const direct = createDirect(deps);
  const say: Chat["say"] = (text, context = {}) => direct(text, { ...plainContext(), ...context });
  return {
    say,
    async answer(text, context) {
      const directed = await say(text, context);
      if (directed.kind === "answered") return directed.text;
      throw new Error(`expected an answer, got a turn with ${JSON.stringify(directed.text)}`);
    },
    async entry() {
      const record = await store.sessions.get(key);
      return record === undefined ? {} : { ...entryOf(record) };
    },
    store,
    workspace,
    asked,
    running,
    ledger,
    approvals,
  };
}

const plainContext = (): CommandContext => ({
  sessionKey: key,
  agentId: "main" as AgentId,
  runId: "own",
  source: "chat",
  authorised: true,
  approver: { clientId: "openclaw-control-ui", surface: "webchat" },
  admin: true,
  signal: new AbortController().signal,
});

interface Parts extends ChatOptions {
  readonly store: Store;
  readonly workspace: string;
  readonly folder: string;
  readonly asked: string[];
  readonly active: Set<string>;
  readonly ledger: Ledger;
  readonly approvals: ApprovalBroker;
}

function portsOf({
  config = {},
  store,
  workspace,
  folder,
  asked,
  active,
  ledger,
  approvals,
  ...options
}: Parts): DirectDeps {
  const catalog = createCatalog({
    tools: builtinTools({
      store,
      clock,
      version: "1.2.3",
      stateDir: join(folder, "state"),
      configPath: join(folder, "state", "openclaw.json"),
      home: folder,
      approvalsPath: join(folder, "state", "exec-approvals.json"),
      lanes: createLanes(),
      // Commands are run through the front door only: test/e2e/sessions/slash-commands.test.ts.
      exec: {} as Exec,
      processes: {} as ProcessTable,
      memory: {} as Memory,
      models: { imageModels: () => [], list: async () => [] },
      services: createLateServices(),
      guard: {} as Guard,
      extraction: {} as Extraction,
      browser: {} as BrowserControl,
      media: {} as MediaStore,
      serviceEnv: () => ({}),
    }),
    plugins: [],
    settings: () => ({ config, revision: "1", locate: () => undefined }),
    workspaceOf: () => workspace,
  });
  const callTool = createCallTool({ catalog, journal: store.journal, mask: createMask(), log: quiet, clock });
  return {
    store,
    config: () => config,
    catalog,
    callTool,
    agents: () => agentsPort(asked, active),
    models: bookOf(options.models ?? [], options.keyless ?? []),
    clock,
    version: "1.2.3",
    usage: ledger,
    approvals,
  };
}

const quiet: Log = {
  child: () => quiet,
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
} as Log;

/** Ends what it is asked to end, and records the requests. */
function agentsPort(asked: string[], active: Set<string>): ReturnType<DirectDeps["agents"]> {
  return {
    active: () => [...active],
    async abort({ runId }, reason) {
      asked.push(`abort ${runId ?? "all"}: ${reason}`);
      const ended = runId === undefined ? [...active] : [runId].filter((id) => active.has(id));
      for (const id of ended) active.delete(id);
      return ended;
    },
    async compact(_key, instructions) {
      asked.push(`compact: ${instructions ?? "-"}`);
      return instructions === "nothing"
        ? { compacted: false, kept: 0, note: "the session is short" }
        : { compacted: true, kept: 4, note: "" };
    },
  };
}

export function refOf(text: string): ModelRef {
  const slash = text.indexOf("/");
  return { provider: text.slice(0, slash), id: text.slice(slash + 1) };
}

function bookOf(
  ready: readonly string[],
  keyless: readonly string[],
): Pick<ModelBook, "candidates" | "list" | "facts"> {
  const defaults = ready.slice(0, 1).map(refOf);
  return {
    candidates: async ({ override }) => (override === undefined ? defaults : [override, ...defaults]),
    facts: () => facts,
    list: async () => [
      ...ready.map((text) => ({ ...refOf(text), facts, ready: true, source: "test" })),
      ...keyless.map((text) => ({ ...refOf(text), facts, ready: false, source: "test" })),
    ],
  };
}
