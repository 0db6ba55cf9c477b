// One WebSocket connection: matches answers to requests. Credentials and retries are the job of client.ts.
import { OpenClawError } from "../../src/core/error.ts";
import { textOf } from "./credential.ts";
import type { WireError } from "../../src/protocol/frame.ts";

export interface GatewayEvent {
  readonly event: string;
  readonly payload: unknown;
  readonly seq?: number;
}

export interface GatewaySocket {
  request(method: string, params: unknown, timeoutMs: number): Promise<unknown>;
  /** Time of the last frame from the gateway. */
  readonly lastMessageAtMs: number;
  close(): void;
}

interface SocketHandlers {
  readonly onEvent: (event: GatewayEvent) => void;
  /** Called once, after all open requests were rejected. */
  readonly onClose: (reason: string) => void;
}

interface PendingRequest {
  readonly method: string;
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** An error answer of the gateway. */
export class RefusedError extends OpenClawError {
  override readonly name: string = "RefusedError";
  readonly failure: WireError<string>;

  constructor(failure: WireError<string>) {
    const hint = textOf(failure.details, "hint");
    super(failure.code, failure.message, { details: failure.details, ...(hint === undefined ? {} : { hint }) });
    this.failure = failure;
  }
}

export function openSocket(url: string, { onEvent, onClose }: SocketHandlers): GatewaySocket {
  const socket = new WebSocket(url);
  const pending = new Map<string, PendingRequest>();
  let sent = 0;
  let lastMessageAtMs = Date.now();
  let isClosed = false;

  const end = (reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    for (const { method, reject, timer } of pending.values()) {
      clearTimeout(timer);
      reject(new OpenClawError("page.connection-lost", `The connection was lost before ${method} was answered.`));
    }
    pending.clear();
    onClose(reason);
  };

  const onFrame = (frame: Record<string, unknown>): void => {
    if (frame["type"] === "event") return onEvent(frame as unknown as GatewayEvent);
    const call = pending.get(String(frame["id"]));
    if (frame["type"] !== "res" || call === undefined) return;
    pending.delete(String(frame["id"]));
    clearTimeout(call.timer);
    if (frame["ok"] === true) call.resolve(frame["payload"]);
    else call.reject(new RefusedError(toFailure(frame["error"])));
  };

  socket.addEventListener("message", ({ data }) => {
    lastMessageAtMs = Date.now();
    const frame = parseFrame(data);
    if (frame !== undefined) onFrame(frame);
  });
  socket.addEventListener("close", ({ code, reason }) => end(reason === "" ? describeClose(code) : reason));

  return {
    get lastMessageAtMs() {
      return lastMessageAtMs;
    },
    request(method, params, timeoutMs) {
      if (socket.readyState !== WebSocket.OPEN) return Promise.reject(notConnected());
      sent += 1;
      const id = String(sent);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          pending.delete(id);
          reject(
            new OpenClawError("page.timeout", `The gateway did not answer ${method} within ${timeoutMs / 1000} s.`),
          );
        }, timeoutMs);
        pending.set(id, { method, resolve, reject, timer });
        socket.send(JSON.stringify({ type: "req", id, method, params }));
      });
    },
    close() {
      socket.close();
      end("closed by the page");
    },
  };
}

export function notConnected(): OpenClawError {
  return new OpenClawError("page.not-connected", "Not connected to the gateway.");
}

function parseFrame(data: unknown): Record<string, unknown> | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame: unknown = JSON.parse(data);
    return typeof frame === "object" && frame !== null ? { ...frame } : undefined;
  } catch {
    return undefined; // not a frame; a request that waits for it times out
  }
}

function toFailure(error: unknown): WireError<string> {
  const code = textOf(error, "code") ?? "UNAVAILABLE";
  const message = textOf(error, "message") ?? "The gateway rejected the request without a reason.";
  return typeof error === "object" && error !== null ? { ...error, code, message } : { code, message };
}

function describeClose(code: number): string {
  if (code === 1012) return "the gateway is restarting";
  if (code === 1009) return "a message was too large";
  if (code === 1006) return "the gateway cannot be reached";
  return `closed with code ${code}`;
}
