// One session over one connection: sends turns, receives their events, stops them, and reports when each has ended.
import { newId } from "../../base/ids.ts";
import type { GatewayClient } from "../client.ts";
import { readEvent, type RunView } from "./run-events.ts";

export type TurnEnd = Extract<RunView, { readonly kind: "final" | "aborted" | "error" }>;

export interface Turn {
  readonly runId: string;
  readonly ended: Promise<TurnEnd>;
}

export interface Conversation {
  /** Resolves when the gateway has stored the turn. Throws OpenClawError when it is rejected. */
  send(text: string): Promise<Turn>;
  /** Stops the running turn and drops the queued ones; false when there were none. */
  stop(): Promise<boolean>;
  isBusy(): boolean;
  close(): void;
}

const WAIT_MS = 24 * 3_600_000;
// Time between the end of a run and its event. Events are never sent twice, so the event may also be missing.
const EVENT_GRACE_MS = 1500;

export function openConversation(
  client: GatewayClient,
  sessionKey: string,
  show: (view: RunView) => void,
): Conversation {
  const open = new Map<string, (end: TurnEnd) => void>();
  const stopListening = client.onEvent((event, payload) => {
    const received = readEvent(event, payload);
    const settle = received === undefined ? undefined : open.get(received.runId);
    if (received === undefined || settle === undefined) return;
    show(received.view);
    if (isEnd(received.view)) settle(received.view);
  });

  return {
    async send(text) {
      const runId = newId();
      const { promise, resolve } = Promise.withResolvers<TurnEnd>();
      open.set(runId, resolve);
      const ended = Promise.race([promise, client.ended]).finally(() => open.delete(runId));
      ended.catch(() => undefined); // the caller that waits for the turn gets the error
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

/** Detects the end of a run when its event was lost on a slow connection. */
async function watchEnd(client: GatewayClient, runId: string, tell: (end: TurnEnd) => void): Promise<void> {
  try {
    const params = { runId, timeoutMs: WAIT_MS };
    const answer = await client.call("agent.wait", params, { timeoutMs: WAIT_MS });
    if (answer.status === "timeout") return;
    setTimeout(() => tell(endOf(answer)), EVENT_GRACE_MS).unref();
  } catch (error) {
    // The connection ended, which rejects the turn anyway, or this gateway cannot wait, which only disables this check.
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
