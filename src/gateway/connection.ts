// One socket from its first byte to its last: challenge, connect, then requests. Violations close it as recorded.
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";

import { OpenClawError } from "../core/error.ts";
import { describeIssues } from "../core/schema.ts";
import { parseStrict } from "../core/strict-json.ts";
import type { Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { connectParams, type ConnectParams } from "../protocol/connect.ts";
import { CLOSE, requestFrame, type RequestFrame } from "../protocol/frame.ts";
import { clientLeft, closeReason, errorFrame, eventFrame, type Client } from "./client.ts";
import type { Dispatch } from "./dispatch.ts";
import type { FairQueue } from "./fair-queue.ts";
import { textFrame } from "./frame-bytes.ts";
import type { Admitted, Refused } from "./handshake.ts";
import { offeredBy, within } from "./node-abilities.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { Peer } from "./peer.ts";

const HANDSHAKE_MS = 10_000;
const MAX_IN_FLIGHT = 256;
/** No further request of a client is started while this many bytes wait to be read. */
const MAX_UNREAD_BYTES = 262_144;

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly dispatch: Dispatch;
  judge(params: ConnectParams, nonce: string, peer: Peer): Promise<Admitted | Refused>;
  readonly queue: FairQueue;
  /** The payload of hello-ok, as JSON. */
  hello(client: Client, admitted: Admitted): string;
  joined(client: Client, admitted: Admitted): void;
  left(client: Client): void;
  refused(refusal: Refused, peer: Peer): void;
  /** Called once, when the socket stops counting as unauthenticated. */
  settled(): void;
}

export function serveConnection(socket: WebSocket, raw: Duplex, peer: Peer, deps: ConnectionDeps): void {
  const nonce = newId();
  const gone = new AbortController();
  const inFlight = new Set<string>();
  const outbox = createOutbox(socket, raw, () => lane.unblock());
  const lane = deps.queue.lane(() => outbox.waiting() > MAX_UNREAD_BYTES);
  let client: Client | undefined;
  let connecting = false;
  let settled = false;

  const settle = (): void => {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    deps.settled();
  };
  const end = (code: number, reason: string): void => {
    outbox.flush();
    socket.close(code, closeReason(reason));
  };
  const deadline = setTimeout(() => end(CLOSE.normal, ""), HANDSHAKE_MS);

  socket.on("error", (error) => deps.log.debug("socket error", { error, address: peer.address }));
  // The library would queue a pong for every ping, even if the client does not read.
  socket.on("ping", (data) => {
    if (outbox.waiting() <= MAX_UNREAD_BYTES) socket.pong(data);
  });
  socket.on("close", () => {
    settle();
    lane.close();
    gone.abort(clientLeft);
    if (client !== undefined) deps.left(client);
  });
  socket.on("message", (bytes: RawData) => {
    if (client !== undefined) return enqueue(bytes, client);
    if (connecting) return; // a connect request is being checked; other data is ignored until then
    connecting = true;
    onFirst(parse(bytes)).catch((error: unknown) => {
      deps.log.error("handshake failed unexpectedly", { error });
      end(1011, "internal error");
    });
  });
  outbox.answer(eventFrame("connect.challenge", JSON.stringify({ nonce, ts: deps.clock.now() })));

  async function onFirst(frame: unknown): Promise<void> {
    if (frame === undefined) return end(CLOSE.normal, "");
    if (!requestFrame.is(frame)) return end(CLOSE.policy, "invalid request frame");
    if (frame.method !== "connect") return refuse(frame.id, "invalid handshake: first request must be connect");
    if (typeof frame.params !== "object" || frame.params === null)
      return refuse(frame.id, "invalid connect params: must be object");
    const issues = connectParams.issues(frame.params);
    if (issues.length > 0) return refuse(frame.id, `invalid connect params: ${describeIssues(issues.slice(0, 12))}`);
    const params = frame.params as ConnectParams;
    const outcome = await deps.judge(params, nonce, peer);
    if (gone.signal.aborted) return;
    if (!outcome.ok) {
      deps.refused(outcome, peer);
      outbox.answer(errorFrame(frame.id, outcome.error));
      return end(outcome.closeCode, outcome.error.message);
    }
    settle();
    client = toClient(outcome, params, { peer, outbox, end, gone: gone.signal, connectedAt: deps.clock.now() });
    const hello = deps.hello(client, outcome);
    outbox.answer(textFrame(`{"type":"res","id":${JSON.stringify(frame.id)},"ok":true,"payload":${hello}}`));
    deps.joined(client, outcome);
  }

  function refuse(id: string, message: string): void {
    outbox.answer(errorFrame(id, { code: "INVALID_REQUEST", message }));
    end(CLOSE.policy, message);
  }

  /** Stops reading while requests wait: data that a client sends too fast stays in its socket. */
  function enqueue(bytes: RawData, from: Client): void {
    lane.offer(() => {
      if (lane.size() === 0 && socket.isPaused) socket.resume();
      onRequest(parse(bytes), from);
    });
    if (lane.size() > 0 && !socket.isPaused) socket.pause();
  }

  function onRequest(frame: unknown, from: Client): void {
    if (frame === undefined) return; // recorded: broken JSON after the handshake is ignored
    if (!requestFrame.is(frame))
      return from.answer(errorFrame(idOf(frame), { code: "INVALID_REQUEST", message: frameProblem(frame) }));
    if (inFlight.has(frame.id))
      return from.answer(errorFrame(frame.id, { code: "INVALID_REQUEST", message: "request id is already in use" }));
    if (inFlight.size >= MAX_IN_FLIGHT) {
      return from.answer(
        errorFrame(frame.id, {
          code: "UNAVAILABLE",
          message: `more than ${MAX_IN_FLIGHT} requests at once`,
          retryable: true,
        }),
      );
    }
    inFlight.add(frame.id);
    void deps.dispatch.handle(frame as RequestFrame, from).finally(() => inFlight.delete(frame.id));
  }
}

interface ClientParts {
  readonly peer: Peer;
  readonly outbox: Outbox;
  readonly end: Client["close"];
  readonly gone: AbortSignal;
  readonly connectedAt: number;
}

function toClient(admitted: Admitted, params: ConnectParams, { peer, outbox, end, ...parts }: ClientParts): Client {
  const offered = offeredBy(params);
  let has = admitted.abilities ?? offered;
  return {
    ...parts,
    connId: newId(),
    role: admitted.role,
    scopes: admitted.scopes,
    deviceId: admitted.deviceId,
    info: params.client,
    get caps() {
      return has.caps;
    },
    get commands() {
      return has.commands;
    },
    get permissions() {
      return has.permissions;
    },
    approve: (approved) => (has = within(offered, approved)),
    pathEnv: params.pathEnv,
    address: peer.address,
    local: peer.local,
    sessions: new Set(),
    send: (frame) => outbox.event(frame),
    queue: (frame) => outbox.queue(frame),
    flush: () => outbox.flush(),
    answer: (frame) => outbox.answer(frame),
    close: end,
  };
}

function parse(bytes: RawData): unknown {
  const buffer = Array.isArray(bytes) ? Buffer.concat(bytes) : Buffer.from(bytes as ArrayBuffer);
  try {
    return parseStrict(buffer.toString("utf8"));
  } catch (error) {
    // Not JSON: the caller decides by the state of the connection. Ambiguous JSON gets an error response.
    return error instanceof OpenClawError ? new Ambiguous(error.message) : undefined;
  }
}

/** JSON that two parsers could read differently; its id cannot be trusted either. */
class Ambiguous {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function idOf(frame: unknown): string {
  const id = typeof frame === "object" && frame !== null && "id" in frame ? frame.id : undefined;
  return typeof id === "string" && id !== "" && id.length <= 256 ? id : "invalid";
}

function frameProblem(frame: unknown): string {
  if (frame instanceof Ambiguous) return `invalid request frame: ${frame.reason}`;
  if (typeof frame !== "object" || frame === null || Array.isArray(frame))
    return "invalid request frame: must be object";
  return `invalid request frame: ${describeIssues(requestFrame.issues(frame).slice(0, 8))}`;
}
