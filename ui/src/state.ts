// An observable store, and the state of the page.
import type { ReactiveController, ReactiveControllerHost } from "lit";

import type { ApprovalRequested } from "../../src/protocol/approval.ts";
import type { HelloOk } from "../../src/protocol/connect.ts";
import type { WireError } from "../../src/protocol/frame.ts";
import type { Health, PresenceEntry } from "../../src/protocol/methods/system.ts";

export interface Store<T> {
  readonly value: T;
  update(change: Partial<T>): void;
  /** Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

export function createStore<T extends object>(first: T): Store<T> {
  const listeners = new Set<() => void>();
  let value = first;
  return {
    get value() {
      return value;
    },
    update(change) {
      value = { ...value, ...change };
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export type Connection =
  | { readonly phase: "connecting" }
  | { readonly phase: "connected" }
  /** Waiting for approval of this browser; the page asks again automatically. */
  | { readonly phase: "pairing"; readonly requestId: string }
  /** Only the person can continue from here. */
  | { readonly phase: "refused"; readonly failure: WireError<string>; readonly used: string }
  | { readonly phase: "lost"; readonly reason: string; readonly retryAtMs: number };

export interface PendingApproval extends ApprovalRequested {
  /** By the clock of this browser: it may differ from the clock of the gateway, so only durations come from there. */
  readonly endsAtMs: number;
}

export interface PageState {
  readonly connection: Connection;
  /** Counts successful connects; data read over an older connection may be stale. */
  readonly epoch: number;
  readonly hello: HelloOk | undefined;
  readonly helloAtMs: number;
  readonly health: Health | undefined;
  readonly presence: readonly PresenceEntry[];
  readonly deviceId: string | undefined;
  /** Why this browser cannot store a device key, if so. */
  readonly keyProblem: string | undefined;
  readonly refusedToken: boolean;
  /** Oldest first. */
  readonly approvals: readonly PendingApproval[];
}

export const firstState: PageState = {
  connection: { phase: "connecting" },
  epoch: 0,
  hello: undefined,
  helloAtMs: 0,
  health: undefined,
  presence: [],
  deviceId: undefined,
  keyProblem: undefined,
  refusedToken: false,
  approvals: [],
};

/** Renders its element again whenever the store changes. */
export class Watch<T> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #store: () => Store<T>;
  #end: (() => void) | undefined;

  constructor(host: ReactiveControllerHost, store: () => Store<T>) {
    this.#host = host;
    this.#store = store;
    host.addController(this);
  }

  get value(): T {
    return this.#store().value;
  }

  hostConnected(): void {
    this.#end = this.#store().subscribe(() => this.#host.requestUpdate());
  }

  hostDisconnected(): void {
    this.#end?.();
  }
}
