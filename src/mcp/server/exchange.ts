// One request and everything sent back for it: messages while it runs, then the answer; as one JSON body unless a message came first.
import type { HeaderClaims, RpcAnswer } from "../message.ts";
import type { Subject } from "../../tool/subject.ts";
import type { McpSession } from "./session.ts";
import type { ResumableStream, Sink } from "./stream.ts";

/** Who asks, and how an answer can reach them. */
export interface McpCaller {
  /** Throws for a session that cannot be; asked only when it matters. */
  subject(): Promise<{ readonly subject: Subject; readonly turn?: string }>;
  readonly claims: HeaderClaims;
  readonly sessionId: string | undefined;
  /** Whether the request comes from this machine. */
  readonly isLocal: boolean;
  /** The connection has ended. */
  readonly gone: AbortSignal;
  /** Turns the response into an event stream. Absent for a client that takes only JSON. */
  readonly openStream?: (() => Sink) | undefined;
}

export interface Exchange {
  readonly caller: McpCaller;
  readonly session: McpSession | undefined;
  /** Aborts when the client canceled the request, or has left and did not come back. */
  readonly signal: AbortSignal;
  readonly canSend: boolean;
  readonly hasStream: boolean;
  readonly send: (message: object) => void;
  /** Stops the request for its client. */
  cancel(): void;
  /** Sends the answer on the stream and returns undefined when there is one; else returns it for a plain response. */
  finish(answer: RpcAnswer): RpcAnswer | undefined;
}

/** How long a client with a session may be away before its call is stopped. */
const RESUME_MS = 60_000;

export function openExchange(caller: McpCaller, session: McpSession | undefined): Exchange {
  const control = new AbortController();
  let stream: ResumableStream | undefined;
  let sink: Sink | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const onGone = (): void => {
    if (stream === undefined || sink === undefined) return control.abort(caller.gone.reason);
    stream.detach(sink);
    waiting = setTimeout(() => {
      if (stream?.isAttached === false) control.abort(caller.gone.reason);
    }, RESUME_MS).unref();
  };
  if (caller.gone.aborted) onGone();
  else caller.gone.addEventListener("abort", onGone, { once: true });

  const openSink = (): Sink | undefined => {
    if (sink !== undefined || caller.openStream === undefined) return sink;
    sink = caller.openStream();
    if (session !== undefined) {
      stream = session.newStream();
      stream.attach(sink);
    }
    return sink;
  };
  const send = (message: object): void => {
    const open = openSink();
    if (stream === undefined) open?.send(message);
    else stream.send(message);
  };
  return {
    caller,
    session,
    signal: session === undefined ? caller.gone : control.signal,
    canSend: caller.openStream !== undefined,
    get hasStream() {
      return sink !== undefined;
    },
    send,
    finish(answer) {
      clearTimeout(waiting);
      caller.gone.removeEventListener("abort", onGone);
      // A canceled request gets no answer; its stream only ends.
      const isCanceled = session !== undefined && control.signal.aborted;
      if (isCanceled) openSink();
      if (sink === undefined) return answer;
      if (answer.body !== undefined && !isCanceled) send(answer.body);
      if (stream === undefined) sink.close();
      else endAndForget(stream, session);
      return undefined;
    },
    cancel: () => control.abort(),
  };
}

/** The end of a stream is kept as long as a call waits for a client that lost its connection. */
function endAndForget(stream: ResumableStream, session: McpSession | undefined): void {
  stream.end();
  setTimeout(() => session?.streams.delete(stream.id), RESUME_MS).unref();
}
