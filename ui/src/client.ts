// The client of the gateway: authenticates, waits for pairing, reconnects, sends requests and emits events.
import { OpenClawError } from "../../src/core/error.ts";
import { afterRefusal, afterConnect, nextCredential, type Secrets, type Kind } from "./credential.ts";
import { connectParams } from "./handshake.ts";
import type { Identity } from "./identity.ts";
import { notConnected, openSocket, RefusedError, type GatewayEvent, type GatewaySocket } from "./socket.ts";
import type { PageState, Store } from "./state.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { HelloOk } from "../../src/protocol/connect.ts";
import type { WireError } from "../../src/protocol/frame.ts";
import type { Health, PresenceEntry } from "../../src/protocol/methods/system.ts";
import type { MethodName, MethodParams, MethodResult } from "../../src/protocol/method-map.ts";

export interface Client {
  start(): void;
  request<M extends MethodName>(method: M, params: MethodParams<M>, timeoutMs?: number): Promise<MethodResult<M>>;
  /** Events of the gateway, and `page.gap` when some were missed. Returns the function that unsubscribes. */
  on(event: string, listener: (payload: unknown) => void): () => void;
  /** Connects with a new secret. */
  present(secret: Secrets): void;
  readonly retryNow: () => void;
  stop(): void;
}

export interface ClientParts {
  readonly url: string;
  readonly version: string;
  readonly store: Store<PageState>;
  readonly credentials: CredentialStore;
  /** Undefined in browsers that store no keys; the gateway then decides whether a token is enough. */
  readonly identity: Identity | undefined;
  readonly secrets: Secrets;
}

const pairingRetryMs = 3000;
const answerMs = 30_000;

export function createClient({ url, version, store, credentials, identity, secrets: firstHeld }: ClientParts): Client {
  const listeners = new Map<string, Set<(payload: unknown) => void>>();
  let secrets = firstHeld;
  let socket: GatewaySocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let lastSeq: number | undefined;

  const saveSecrets = (next: Secrets): void => {
    secrets = next;
    credentials.write(secrets, identity?.deviceId);
  };

  const connectAfter = (delayMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(connect, delayMs);
  };

  const connect = (): void => {
    clearTimeout(timer);
    closeSocket();
    const opened = openSocket(url, {
      onEvent: (event) => {
        if (event.event === "connect.challenge") void sendConnect(opened, event.payload);
        else if (socket === opened) onEvent(event);
      },
      onClose: (reason) => {
        if (socket === opened) onLost(reason);
      },
    });
    socket = opened;
  };

  /** Clears the socket first, so that its close event is not treated as a lost connection. */
  const closeSocket = (): void => {
    const old = socket;
    socket = undefined;
    old?.close();
  };

  const onLost = (reason: string, afterMs = backoffMs(failures, Math.random())): void => {
    closeSocket();
    failures += 1;
    store.update({ connection: { phase: "lost", reason, retryAtMs: Date.now() + afterMs } });
    connectAfter(afterMs);
  };

  const sendConnect = async (opened: GatewaySocket, challenge: unknown): Promise<void> => {
    const credential = nextCredential(secrets);
    try {
      const params = await connectParams({ version, identity, challenge, credential });
      const hello = (await opened.request("connect", params, answerMs)) as HelloOk;
      if (socket === opened) onConnected(hello);
    } catch (error) {
      if (socket !== opened) return;
      if (error instanceof RefusedError) onRefused(credential.kind, error.failure);
      else onLost(error instanceof Error ? error.message : String(error));
    }
  };

  const onConnected = (hello: HelloOk): void => {
    failures = 0;
    lastSeq = undefined;
    saveSecrets(afterConnect(secrets, hello.auth?.deviceToken));
    store.update({
      connection: { phase: "connected" },
      epoch: store.value.epoch + 1,
      hello,
      helloAtMs: Date.now(),
      health: hello.snapshot.health,
      presence: hello.snapshot.presence,
    });
    closeWhenSilent(hello.policy.tickIntervalMs);
  };

  const onRefused = (used: Kind, failure: WireError<string>): void => {
    closeSocket();
    const { secrets: left, step } = afterRefusal(secrets, used, failure);
    saveSecrets(left);
    if (step.next === "again") return connectAfter(0);
    if (step.next === "later") return onLost(failure.message, step.afterMs);
    if (step.next === "ask") return store.update({ connection: { phase: "refused", failure, used } });
    store.update({ connection: { phase: "pairing", requestId: step.requestId } });
    connectAfter(pairingRetryMs);
  };

  /** A laptop keeps a dead socket after sleep; no frame for two ticks means that it is closed. */
  const closeWhenSilent = (tickMs: number): void => {
    const opened = socket;
    const interval = setInterval(() => {
      if (socket !== opened || opened === undefined) return clearInterval(interval);
      if (Date.now() - opened.heardAtMs <= 2 * tickMs + 5000) return;
      clearInterval(interval);
      onLost("the gateway stopped responding", 0);
    }, 5000);
  };

  const onEvent = ({ event, payload, seq }: GatewayEvent): void => {
    const isGap = seq !== undefined && lastSeq !== undefined && seq > lastSeq + 1;
    lastSeq = seq ?? lastSeq;
    if (event === "health") store.update({ health: payload as Health });
    if (event === "presence") store.update({ presence: (payload as { presence: PresenceEntry[] }).presence });
    // Missed events are not repeated, so their data is read again.
    if (isGap) {
      void refresh();
      emit("page.gap", undefined);
    }
    emit(event, payload);
  };

  const emit = (event: string, payload: unknown): void => {
    for (const listener of listeners.get(event) ?? []) listener(payload);
  };

  const refresh = async (): Promise<void> => {
    try {
      const [health, presence] = await Promise.all([request("health", {}), request("system-presence", {})]);
      store.update({ health, presence });
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error; // the connection state already shows the loss
    }
  };

  const request: Client["request"] = async (method, params, timeoutMs = answerMs) => {
    if (socket === undefined || store.value.connection.phase !== "connected") throw notConnected();
    checkSize(params, store.value.hello?.policy.maxPayload);
    return (await socket.request(method, params, timeoutMs)) as MethodResult<typeof method>;
  };

  return {
    start: connect,
    request,
    on(event, listener) {
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set.add(listener));
      return () => set.delete(listener);
    },
    present(secret) {
      saveSecrets({ ...secrets, ...secret });
      store.update({ connection: { phase: "connecting" } });
      connect();
    },
    retryNow() {
      if (store.value.connection.phase === "connected") return;
      store.update({ connection: { phase: "connecting" } });
      connect();
    },
    stop() {
      clearTimeout(timer);
      closeSocket();
    },
  };
}

/** 1 s, growing to 15 s, with jitter so that many pages do not reconnect at the same moment. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(Math.min(15_000, 1000 * 1.8 ** failures) * (0.75 + random / 2));
}

function checkSize(params: unknown, maxPayload = Infinity): void {
  const frameBytes = new TextEncoder().encode(JSON.stringify(params)).length + 200;
  if (frameBytes <= maxPayload) return;
  throw new OpenClawError(
    "page.too-large",
    `This message is ${Math.ceil(frameBytes / 1024)} KB; the gateway accepts at most ${Math.floor(maxPayload / 1024)} KB.`,
  );
}
