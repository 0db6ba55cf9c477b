// All connected clients and the events they share: one sequence, one tick, audience by scope.
import type { Clock } from "../base/clock.ts";
import { WIRE_LIMITS, type StateVersion } from "../protocol/frame.ts";
import { holdsScope, type Scope } from "../protocol/scope.ts";
import { eventFrame, type Client } from "./client.ts";
import { createBroadcastBatches, MAX_UNBATCHED_CLIENTS } from "./broadcast-batches.ts";

/** The scope a client needs to receive an event: conversations go only to clients that may read the history. */
export type Audience = Scope | "anybody";

export function isAmong({ role, scopes }: Pick<Client, "role" | "scopes">, needs: Audience): boolean {
  return needs === "anybody" || (role === "operator" && holdsScope(scopes, needs));
}

export interface BroadcastOptions {
  readonly needs?: Audience;
  readonly stateVersion?: StateVersion;
}

export interface Hub {
  readonly clients: ReadonlySet<Client>;
  add(client: Client): void;
  remove(client: Client): void;
  /**
   * To operators that hold the scope (default `operator.read`); `anybody` for events without private content.
   * Events are never replayed; a gap in `seq` says so.
   */
  broadcast(event: string, payload: unknown, options?: BroadcastOptions): void;
  /** The same for a payload that is already JSON. */
  broadcastJson(event: string, payload: string, options?: BroadcastOptions): void;
  /**
   * Text of a run as it grows. With many clients, only those that asked about the session get it, without a sequence
   * number; the start and end of a run go to all.
   */
  stream(event: string, payload: unknown, session: string): void;
  /** To the selected clients, without a sequence number, because the others would see a gap. */
  sendSome(event: string, payload: unknown, chosen: (client: Client) => boolean): void;
  /** True while many clients wait for earlier events: callers that can gather changes should. */
  isBehind(): boolean;
  /** To one client, with the number of the last shared event, so that the others see no gap. */
  sendTo(client: Client, event: string, payload: unknown, options?: { readonly stateVersion?: StateVersion }): void;
  /** Closes the connections of a device whose token is no longer valid, except the one that requested it. */
  dropDevice(deviceId: string, role: string, but?: Client): void;
  closeAll(code: number, reason: string): void;
}

export function createHub(clock: Clock): Hub {
  const clients = new Set<Client>();
  const batches = createBroadcastBatches(clock);
  let seq = 0;
  let ticking: NodeJS.Timeout | undefined;

  const broadcastJson: Hub["broadcastJson"] = (event, payload, { needs = "operator.read", stateVersion } = {}) => {
    const audience = [...clients].filter((client) => isAmong(client, needs));
    if (audience.length > 0) batches.send(audience, eventFrame(event, payload, { seq: ++seq, stateVersion }));
  };
  const sendSome: Hub["sendSome"] = (event, payload, chosen) => {
    const audience = [...clients].filter(chosen);
    if (audience.length > 0) batches.send(audience, eventFrame(event, JSON.stringify(payload)));
  };
  const broadcast: Hub["broadcast"] = (event, payload, options) => {
    if (clients.size > 0) broadcastJson(event, JSON.stringify(payload), options);
  };

  return {
    clients,
    broadcast,
    broadcastJson,
    stream(event, payload, session) {
      if (clients.size <= MAX_UNBATCHED_CLIENTS) broadcast(event, payload);
      else sendSome(event, payload, (client) => client.sessions.has(session) && isAmong(client, "operator.read"));
    },
    sendSome,
    isBehind: () => batches.isBehind(),
    add(client) {
      clients.add(client);
      // Without clients no timer runs, so that an idle gateway stays idle.
      ticking ??= setInterval(
        () => broadcast("tick", { ts: clock.now() }, { needs: "anybody" }),
        WIRE_LIMITS.tickIntervalMs,
      ).unref();
    },
    remove(client) {
      clients.delete(client);
      if (clients.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    },
    sendTo(client, event, payload, { stateVersion } = {}) {
      seq ||= 1;
      client.send(eventFrame(event, JSON.stringify(payload), { seq, stateVersion }));
    },
    dropDevice(deviceId, role, but) {
      for (const client of clients)
        if (client !== but && client.deviceId === deviceId && client.role === role)
          client.close(1008, but === undefined ? "device token revoked" : "device token rotated");
    },
    closeAll(code, reason) {
      clearInterval(ticking);
      ticking = undefined;
      for (const client of clients) client.close(code, reason);
    },
  };
}
