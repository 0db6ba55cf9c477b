// Sessions that work together in a real gateway: two agents, a scripted model, and what a chat shows afterwards.
import { join } from "node:path";

import { until } from "./exec.ts";
import { say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../fakes/openai.ts";
import { dispose, invoke, operator, type TestGateway, type Wire } from "./gateway.ts";
import { modelConfig, startWithModel } from "./model.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

export interface Turn {
  /** The last message of the request. */
  readonly role: string;
  readonly text: string;
  /** The first user message: in a subagent its task. */
  readonly first: string;
  readonly tools: readonly string[];
  readonly model: string;
  readonly system: string;
}

export type Script = (turn: Turn) => Reply | Promise<Reply>;

export interface TwoAgents {
  readonly server: FakeServer;
  readonly gateway: TestGateway;
  readonly wire: Wire;
  /** Every request to the model so far. */
  turns(): Turn[];
  play(script: Script): void;
  call(tool: string, args: unknown, sessionKey?: string): Promise<Record<string, unknown>>;
  /** Texts of a session, oldest first, as `role: text`. */
  history(sessionKey: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface TwoAgentsPlan {
  readonly more?: Record<string, unknown>;
  readonly home?: string;
  readonly env?: Record<string, string>;
}

/** Agents `main` and `helper`; models `fake/fake-1` and `fake/fake-2`. */
export async function openTwoAgents({ more = {}, ...plan }: TwoAgentsPlan = {}): Promise<TwoAgents> {
  let script: Script = () => say("hello");
  const seen: Turn[] = [];
  const server = await startFakeOpenAI((request) => {
    const turn = turnOf(request);
    seen.push(turn);
    return script(turn);
  });
  const gateway = await startWithModel(server, { ...plan, more: twoModels(server, more) });
  const wire = await operator(gateway);
  return {
    server,
    gateway,
    wire,
    turns: () => [...seen],
    play(next) {
      script = next;
    },
    call: (tool, args, sessionKey) => callTool(gateway, tool, args, sessionKey),
    history: (sessionKey) => historyOf(wire, sessionKey),
    async close() {
      wire.end();
      await dispose(gateway);
      await server.close();
    },
  };
}

export function twoModels(server: FakeServer, more: Record<string, unknown> = {}): Record<string, unknown> {
  const base = modelConfig(server) as {
    models: { providers: { fake: { models: Record<string, unknown>[] } & Record<string, unknown> } };
    agents: { defaults: Record<string, unknown> };
  };
  const [one] = base.models.providers.fake.models;
  const fake = { ...base.models.providers.fake, models: [one, { ...one, id: "fake-2", name: "Fake Two" }] };
  const { agents = {}, ...rest } = more as { agents?: { defaults?: object; list?: object[] } };
  return {
    models: { providers: { fake } },
    agents: {
      defaults: { ...base.agents.defaults, ...agents.defaults },
      list: agents.list ?? [{ id: "main", default: true }, { id: "helper" }],
    },
    ...rest,
  };
}

export interface RawMessage {
  readonly role: string;
  readonly content: unknown;
}

export function turnOf({ body }: FakeRequest): Turn {
  const {
    messages,
    tools = [],
    model,
  } = body as {
    messages: RawMessage[];
    tools?: { function: { name: string } }[];
    model: string;
  };
  const last = messages.at(-1) ?? { role: "none", content: "" };
  const first = messages.find(({ role }) => role === "user");
  return {
    role: last.role,
    text: plain(last.content),
    first: plain(first?.content),
    tools: tools.map(({ function: { name } }) => name),
    model,
    system: plain(messages.find(({ role }) => role === "system" || role === "developer")?.content),
  };
}

function plain(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

export async function callTool(
  gateway: TestGateway,
  tool: string,
  args: unknown,
  sessionKey = "main",
): Promise<Record<string, unknown>> {
  const { body } = await invoke(gateway, tool, args, { body: { sessionKey } });
  const { ok, result, error } = body as { ok: boolean; result?: { details?: unknown }; error?: unknown };
  return (ok ? result?.details : { refused: error }) as Record<string, unknown>;
}

export async function historyOf(wire: Wire, sessionKey: string): Promise<string[]> {
  const { messages } = await wire.call("chat.history", { sessionKey, limit: 1000 });
  return messages.map(lineOf);
}

export const lineOf = ({ role, content }: RawMessage): string => `${role}: ${plain(content)}`;

/** Waits until no exchange and no subagent is left, so that only later turns are seen. */
export async function atRest({ gateway }: TwoAgents): Promise<void> {
  const open = async (): Promise<number> => {
    const store = await openSqliteStore({ file: join(gateway.state, "openclaw.sqlite"), readOnly: true });
    try {
      return (await store.children.open()).length + (await store.kv.list("talks")).length;
    } finally {
      await store.close();
    }
  };
  await until(open, (left) => left === 0);
}

/** Waits until a session's chat holds so many messages that fit. */
export function untilSaid(wire: Wire, sessionKey: string, pattern: RegExp, count = 1): Promise<string[]> {
  const look = async (): Promise<string[]> => (await historyOf(wire, sessionKey)).filter((line) => pattern.test(line));
  return until(look, (lines) => lines.length >= count);
}

export const isAnnounce = ({ text }: Turn): boolean => text.includes("Announce step");
export const isReplyTurn = ({ text }: Turn): boolean => text.startsWith("[Reply from");
export const isResult = ({ text }: Turn): boolean => text.startsWith("[Subagent]");

/** A row of sessions_list. */
export interface SessionRow {
  readonly key: string;
  readonly kind: string;
  readonly messages?: readonly { readonly role: string }[];
}
export const rowsOf = (answer: Record<string, unknown>): SessionRow[] => answer["sessions"] as SessionRow[];

/** What open chats of a session were shown, run by run; undefined for silence. */
export function shownIn(wire: Wire, sessionKey: string): (string | undefined)[] {
  return wire.frames.flatMap((frame) => {
    const chatFrame = frame.payload as
      | { sessionKey?: string; state?: string; message?: { content: { text: string }[] } }
      | undefined;
    if (frame.event !== "chat" || chatFrame?.sessionKey !== sessionKey || chatFrame.state === "delta") return [];
    return [chatFrame.message?.content.map(({ text }) => text).join("")];
  });
}
