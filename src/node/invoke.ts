// Sends requests to nodes and accepts an answer only from the connection that was asked.
import { newId } from "../base/ids.ts";
import { nodeFailed, nodeTimedOut, notConnected, type NodeFailure } from "../exec/node-error.ts";
import type { InvokeOptions } from "../exec/node-port.ts";
import type { NodeLink } from "./link.ts";

/** The parameters of `node.invoke.result`. */
export interface NodeAnswer {
  readonly id: string;
  readonly nodeId: string;
  readonly ok: boolean;
  readonly payload?: unknown;
  readonly payloadJSON?: unknown;
  readonly error?: NodeFailure;
}

export interface Invoker {
  ask(link: NodeLink, command: string, params: unknown, options: InvokeOptions): Promise<unknown>;
  /** False when no request waits for it: too late, or sent to another connection. */
  answer(connId: string, answer: NodeAnswer): boolean;
  readonly waiting: number;
}

interface Pending {
  readonly connId: string;
  readonly nodeId: string;
  settle(answer: NodeAnswer): void;
}

export function createInvoker(): Invoker {
  const pending = new Map<string, Pending>();

  return {
    get waiting() {
      return pending.size;
    },
    ask(link, command, params, { timeoutMs, idempotencyKey, signal }) {
      const id = newId();
      const { promise, resolve, reject } = Promise.withResolvers<NodeAnswer>();
      // Published nodes ignore this event; ours ends the command.
      const forget = (): void => link.send("node.invoke.cancel", { id, nodeId: link.nodeId });
      const left = (): void => reject(notConnected(link.nodeId));
      const stopped = (): void => {
        forget();
        reject(signal?.reason as Error);
      };
      if (link.gone.aborted) return Promise.reject(notConnected(link.nodeId));
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      const timer = setTimeout(() => {
        forget();
        reject(nodeTimedOut());
      }, timeoutMs);
      link.gone.addEventListener("abort", left, { once: true });
      signal?.addEventListener("abort", stopped, { once: true });
      pending.set(id, {
        connId: link.connId,
        nodeId: link.nodeId,
        settle: resolve,
      });
      link.send("node.invoke.request", {
        id,
        nodeId: link.nodeId,
        command,
        paramsJSON: params === undefined ? null : JSON.stringify(params),
        timeoutMs,
        idempotencyKey,
      });
      return promise.then(payloadOf).finally(() => {
        pending.delete(id);
        clearTimeout(timer);
        link.gone.removeEventListener("abort", left);
        signal?.removeEventListener("abort", stopped);
      });
    },
    answer(connId, answer) {
      const waiting = pending.get(answer.id);
      if (waiting === undefined || waiting.connId !== connId || waiting.nodeId !== answer.nodeId) return false;
      pending.delete(answer.id);
      waiting.settle(answer);
      return true;
    },
  };
}

/** Nodes send the payload as JSON text or as a value. */
function payloadOf({ ok, error: failure, payload, payloadJSON }: NodeAnswer): unknown {
  if (!ok) throw nodeFailed(failure ?? {});
  if (typeof payloadJSON !== "string") return payload ?? payloadJSON ?? null;
  try {
    return JSON.parse(payloadJSON) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw nodeFailed({ code: "BAD_ANSWER", message: "the answer of the node is not valid JSON" });
    throw error;
  }
}
