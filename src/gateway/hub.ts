// All connected clients and the events they share: one sequence, one tick, audience by scope.
import type { Clock } from "../base/clock.ts";
import { WIRE_LIMITS, type StateVersion } from "../protocol/frame.ts";
import { holdsScope, type Scope } from "../protocol/scope.ts";
import type { Client } from "./client.ts";

export interface Hub {
  readonly clients: ReadonlySet<Client>;
  add(client: Client): void;
  remove(client: Client): void;
  /** To everybody, or to operators who hold a scope. Events are never replayed; a gap in `seq` says so. */
  broadcast(
    event: string,
    payload: unknown,
    options?: { readonly needs?: Scope; readonly stateVersion?: StateVersion },
  ): void;
  /** To one client, with the shared sequence but seen by nobody else. */
  sendTo(client: Client, event: string, payload: unknown, options?: { readonly stateVersion?: StateVersion }): void;
  /** Closes the connections of a device, for example when its token is revoked. */
  dropDevice(deviceId: string, role: string): void;
  closeAll(code: number, reason: string): void;
}

export function createHub(clock: Clock): Hub {
  const clients = new Set<Client>();
  let seq = 0;
  let ticking: NodeJS.Timeout | undefined;

  const broadcast: Hub["broadcast"] = (event, payload, { needs, stateVersion } = {}) => {
    if (clients.size === 0) return;
    const frame = JSON.stringify({
      type: "event",
      event,
      payload,
      seq: ++seq,
      ...(stateVersion === undefined ? {} : { stateVersion }),
    });
    for (const client of clients) {
      if (needs !== undefined && (client.role !== "operator" || !holdsScope(client.scopes, needs))) continue;
      client.send(frame);
    }
  };

  return {
    clients,
    broadcast,
    add(client) {
      clients.add(client);
      // No timer runs while nobody listens: an idle gateway is really idle.
      ticking ??= setInterval(() => broadcast("tick", { ts: clock.now() }), WIRE_LIMITS.tickIntervalMs).unref();
    },
    remove(client) {
      clients.delete(client);
      if (clients.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    },
    sendTo(client, event, payload, { stateVersion } = {}) {
      client.send(
        JSON.stringify({
          type: "event",
          event,
          payload,
          seq: ++seq,
          ...(stateVersion === undefined ? {} : { stateVersion }),
        }),
      );
    },
    dropDevice(deviceId, role) {
      for (const client of clients)
        if (client.deviceId === deviceId && client.role === role) client.close(1008, "device token revoked");
    },
    closeAll(code, reason) {
      clearInterval(ticking);
      ticking = undefined;
      for (const client of clients) client.close(code, reason);
    },
  };
}
