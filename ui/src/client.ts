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

export interface ClientOptions {
  readonly url: string;
  readonly version: string;
  readonly store: Store<PageState>;
  readonly credentials: CredentialStore;
  /** Undefined in browsers that store no keys; the gateway then decides whether a token is enough. */
  readonly identity: Identity | undefined;
  readonly secrets: Secrets;
}

type Listener = (payload: unknown) => void;

const pairingRetryMs = 3000;
const answerMs = 30_000;

export class Client {
  readonly #options: ClientOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  #secrets: Secrets;
  #socket: GatewaySocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #lastSeq: number | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#secrets = options.secrets;
  }

  start(): void {
    clearTimeout(this.#timer);
    this.#closeSocket();
    const opened = openSocket(this.#options.url, {
      onEvent: (event) => {
        if (event.event === "connect.challenge") void this.#sendConnect(opened, event.payload);
        else if (this.#socket === opened) this.#onEvent(event);
      },
      onClose: (reason) => {
        if (this.#socket === opened) this.#onLost(reason);
      },
    });
    this.#socket = opened;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#closeSocket();
  }

  async request<M extends MethodName>(
    method: M,
    params: MethodParams<M>,
    timeoutMs = answerMs,
  ): Promise<MethodResult<M>> {
    const { connection, hello } = this.#options.store.value;
    if (this.#socket === undefined || connection.phase !== "connected") throw notConnected();
    checkSize(params, hello?.policy.maxPayload);
    return (await this.#socket.request(method, params, timeoutMs)) as MethodResult<M>;
  }

  /** Gateway events, and `page.gap` when some were missed. Returns the function that unsubscribes. */
  on(event: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Connects with a new secret. */
  present(secret: Secrets): void {
    this.#saveSecrets({ ...this.#secrets, ...secret });
    this.#reconnect();
  }

  readonly retryNow = (): void => {
    if (this.#options.store.value.connection.phase !== "connected") this.#reconnect();
  };

  #reconnect(): void {
    this.#options.store.update({ connection: { phase: "connecting" } });
    this.start();
  }

  #connectAfter(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), delayMs);
  }

  /** Clears the socket first, so that its close event is not treated as a lost connection. */
  #closeSocket(): void {
    const old = this.#socket;
    this.#socket = undefined;
    old?.close();
  }

  #saveSecrets(secrets: Secrets): void {
    this.#secrets = secrets;
    this.#options.credentials.write(secrets, this.#options.identity?.deviceId);
  }

  async #sendConnect(opened: GatewaySocket, challenge: unknown): Promise<void> {
    const { version, identity } = this.#options;
    const credential = nextCredential(this.#secrets);
    try {
      const params = await connectParams({ version, identity, challenge, credential });
      const hello = (await opened.request("connect", params, answerMs)) as HelloOk;
      if (this.#socket === opened) this.#onConnected(hello);
    } catch (error) {
      if (this.#socket !== opened) return;
      if (error instanceof RefusedError) this.#onRefused(credential.kind, error.failure);
      else this.#onLost(error instanceof Error ? error.message : String(error));
    }
  }

  #onConnected(hello: HelloOk): void {
    const { store } = this.#options;
    this.#failures = 0;
    this.#lastSeq = undefined;
    this.#saveSecrets(afterConnect(this.#secrets, hello.auth?.deviceToken));
    store.update({
      connection: { phase: "connected" },
      epoch: store.value.epoch + 1,
      hello,
      helloAtMs: Date.now(),
      health: hello.snapshot.health,
      presence: hello.snapshot.presence,
    });
    this.#closeWhenSilent(hello.policy.tickIntervalMs);
  }

  #onRefused(used: Kind, failure: WireError<string>): void {
    const { store } = this.#options;
    this.#closeSocket();
    const { secrets, step } = afterRefusal(this.#secrets, used, failure);
    this.#saveSecrets(secrets);
    if (step.next === "again") return this.#connectAfter(0);
    if (step.next === "later") return this.#onLost(failure.message, step.afterMs);
    if (step.next === "ask") return store.update({ connection: { phase: "refused", failure, used } });
    store.update({ connection: { phase: "pairing", requestId: step.requestId } });
    this.#connectAfter(pairingRetryMs);
  }

  #onLost(reason: string, afterMs = backoffMs(this.#failures, Math.random())): void {
    this.#closeSocket();
    this.#failures += 1;
    this.#options.store.update({ connection: { phase: "lost", reason, retryAtMs: Date.now() + afterMs } });
    this.#connectAfter(afterMs);
  }

  /** A laptop keeps a dead socket after sleep; no frame for two ticks means that it is closed. */
  #closeWhenSilent(tickMs: number): void {
    const opened = this.#socket;
    const interval = setInterval(() => {
      if (this.#socket !== opened || opened === undefined) return clearInterval(interval);
      if (Date.now() - opened.lastMessageAtMs <= 2 * tickMs + 5000) return;
      clearInterval(interval);
      this.#onLost("the gateway stopped responding", 0);
    }, 5000);
  }

  #onEvent({ event, payload, seq }: GatewayEvent): void {
    const { store } = this.#options;
    const isGap = seq !== undefined && this.#lastSeq !== undefined && seq > this.#lastSeq + 1;
    this.#lastSeq = seq ?? this.#lastSeq;
    if (event === "health") store.update({ health: payload as Health });
    if (event === "presence") store.update({ presence: (payload as { presence: PresenceEntry[] }).presence });
    // Missed events are not repeated, so their data is read again.
    if (isGap) {
      void this.#refresh();
      this.#emit("page.gap", undefined);
    }
    this.#emit(event, payload);
  }

  #emit(event: string, payload: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(payload);
  }

  async #refresh(): Promise<void> {
    try {
      const [health, presence] = await Promise.all([this.request("health", {}), this.request("system-presence", {})]);
      this.#options.store.update({ health, presence });
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error; // the connection state already shows the loss
    }
  }
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
