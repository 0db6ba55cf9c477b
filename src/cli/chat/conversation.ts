// One session over one connection: sends turns, hears their events, stops them, and knows when each has ended.
import { newId } from "../../base/ids.ts";
import type { GatewayClient } from "../client.ts";
import { readEvent, type RunView } from "./run-events.ts";

export type TurnEnd = Extract<RunView, { readonly kind: "final" | "aborted" | "error" }>;

export interface Turn {
  readonly runId: string;
  readonly ended: Promise<TurnEnd>;
}

export interface Conversation {
  /** Resolves when the gateway has the turn on record. Throws OpenClawError when it is rejected. */
  send(text: string): Promise<Turn>;
  /** Stops what runs and drops what waits; false when there was nothing. */
  stop(): Promise<boolean>;
  isBusy(): boolean;
  close(): void;
}

const WAIT_MS = 24 * 3_600_000;
// Between the end of a run and the event that says so; events are never sent twice, so it may also not come.
const EVENT_GRACE_MS = 1500;

export function openConversation(
  client: GatewayClient,
  sessionKey: string,
  show: (view: RunView) => void,
): Conversation {
  const open = new Map<string, (end: TurnEnd) => void>();
  const stopListening = client.onEvent((event, payload) => {
    const heard = readEvent(event, payload);
    const settle = heard === undefined ? undefined : open.get(heard.runId);
    if (heard === undefined || settle === undefined) return;
    show(heard.view);
    if (isEnd(heard.view)) settle(heard.view);
  });

  return {
    async send(text) {
      const runId = newId();
      const { promise, resolve } = Promise.withResolvers<TurnEnd>();
      open.set(runId, resolve);
      const ended = Promise.race([promise, client.ended]).finally(() => open.delete(runId));
      ended.catch(() => undefined); // whoever waits for the turn hears of it
      try {
        await client.call("chat.send", { sessionKey, message: text, idempotencyKey: runId });
      } catch (error) {
        open.delete(runId);
        throw error;
      }
      void watchEnd(client, runId, (end) => {
        if (!open.has(runId)) return;
        show(end);
        resolve(end);
      });
      return { runId, ended };
    },
    async stop() {
      const { aborted } = await client.call("chat.abort", { sessionKey });
      return aborted;
    },
    isBusy: () => open.size > 0,
    close: stopListening,
  };
}

/** The second way to hear of an end, for when its event got lost on a slow connection. */
async function watchEnd(client: GatewayClient, runId: string, tell: (end: TurnEnd) => void): Promise<void> {
  try {
    const params = { runId, timeoutMs: WAIT_MS };
    const answer = await client.call("agent.wait", params, { timeoutMs: WAIT_MS });
    if (answer.status === "timeout") return;
    setTimeout(() => tell(endOf(answer)), EVENT_GRACE_MS).unref();
  } catch (error) {
    // The connection ended, which the turn hears of by itself, or this gateway cannot wait, which costs only the second way.
    if (!(error instanceof Error)) throw error;
  }
}

function endOf({ status, error }: { readonly status: string; readonly error?: unknown }): TurnEnd {
  if (status === "ok") return { kind: "final", text: "" };
  return { kind: "error", message: typeof error === "string" ? error : "the run failed", hint: "openclaw logs" };
}

function isEnd(view: RunView): view is TurnEnd {
  return view.kind === "final" || view.kind === "aborted" || view.kind === "error";
}
