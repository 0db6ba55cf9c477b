// Sessions of clients that began with `initialize`: what they can do, their streams, and questions that wait for their answer.
import type { Clock } from "../../base/clock.ts";
import { newSecret } from "../../base/ids.ts";
import type { RpcId, RpcReply } from "../message.ts";
import { ResumableStream } from "./stream.ts";
import type { LogLevel } from "./log-level.ts";

const MAX_SESSIONS = 256;
const MAX_STREAMS = 64;
/** Characters that streams of answered requests keep for a client that comes back. */
const MAX_KEPT = 8_000_000;
const IDLE_MS = 24 * 3_600_000;
/** The stream of messages that belong to no request. */
export const STANDALONE = "s";

export interface McpSession {
  readonly id: string;
  /** Whether it was opened on this machine; the same must hold for every later request. */
  readonly isLocal: boolean;
  readonly capabilities: Readonly<Record<string, unknown>>;
  logLevel: LogLevel;
  /** Running requests, for `notifications/cancelled`. */
  readonly calls: Map<RpcId, { cancel(): void }>;
  readonly streams: Map<string, ResumableStream>;
  /** URIs whose changes the client subscribed to. */
  readonly subscriptions: Set<string>;
  /** Follows `subscriptions` again after they changed; set while the standalone stream is open. */
  resubscribe?: () => void;
  /** Sends by the given way and resolves with the client's reply. */
  ask(send: (message: object) => void, method: string, params: unknown, signal: AbortSignal): Promise<RpcReply>;
  reply(reply: RpcReply): void;
  newStream(): ResumableStream;
}

export interface McpSessions {
  open(facts: Pick<McpSession, "isLocal" | "capabilities">): McpSession;
  get(id: string, isLocal: boolean): McpSession | undefined;
  end(session: McpSession): void;
}

export function createSessions(clock: Pick<Clock, "now">): McpSessions {
  /** Least recently used first. */
  const sessions = new Map<string, { readonly session: McpSession; readonly usedAt: number }>();
  const end = (session: McpSession): void => {
    sessions.delete(session.id);
    for (const call of session.calls.values()) call.cancel();
    for (const stream of session.streams.values()) stream.end();
  };
  const isBusy = ({ calls, streams }: McpSession): boolean =>
    calls.size > 0 || [...streams.values()].some((stream) => stream.isAttached);
  const makeRoom = (): void => {
    for (const { session, usedAt } of sessions.values()) {
      const isOld = clock.now() - usedAt > IDLE_MS;
      if (!isOld && sessions.size < MAX_SESSIONS) return;
      if (!isBusy(session) || sessions.size >= 2 * MAX_SESSIONS) end(session);
    }
  };
  return {
    open(facts) {
      makeRoom();
      const session = createSession(facts);
      sessions.set(session.id, { session, usedAt: clock.now() });
      return session;
    },
    get(id, isLocal) {
      const session = sessions.get(id)?.session;
      if (session === undefined || session.isLocal !== isLocal) return undefined;
      sessions.delete(id);
      sessions.set(id, { session, usedAt: clock.now() });
      return session;
    },
    end,
  };
}

function createSession({ isLocal, capabilities }: Pick<McpSession, "isLocal" | "capabilities">): McpSession {
  const waiting = new Map<string, (reply: RpcReply) => void>();
  const streams = new Map<string, ResumableStream>();
  let questions = 0;
  let opened = 0;
  return {
    id: newSecret(24),
    isLocal,
    capabilities,
    logLevel: "warning",
    calls: new Map(),
    streams,
    subscriptions: new Set(),
    ask(send, method, params, signal) {
      const id = `q${++questions}`;
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          waiting.delete(id);
          signal.removeEventListener("abort", onAbort);
        };
        const onAbort = (): void => {
          settle();
          send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
          reject(signal.reason as Error);
        };
        signal.throwIfAborted();
        signal.addEventListener("abort", onAbort);
        waiting.set(id, (reply) => {
          settle();
          resolve(reply);
        });
        send({ jsonrpc: "2.0", id, method, params });
      });
    },
    reply(reply) {
      if (typeof reply.replyTo === "string") waiting.get(reply.replyTo)?.(reply);
    },
    newStream() {
      const ended = [...streams.values()].filter(({ hasEnded }) => hasEnded);
      let kept = ended.reduce((sum, { size }) => sum + size, 0);
      for (const { id, size } of ended) {
        if (streams.size < MAX_STREAMS && kept <= MAX_KEPT) break;
        streams.delete(id);
        kept -= size;
      }
      const stream = new ResumableStream(`r${++opened}`);
      streams.set(stream.id, stream);
      return stream;
    },
  };
}
