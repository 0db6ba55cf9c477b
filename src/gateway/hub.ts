// All connected clients and the events they share: one sequence, one tick, audience by scope.
import type { Clock } from "../base/clock.ts";
import { WIRE_LIMITS, type StateVersion } from "../protocol/frame.ts";
import { holdsScope, type Scope } from "../protocol/scope.ts";
import type { Client } from "./client.ts";

/** Who is told: what people and agents say is for those who could read it in the history as well, not for every node. */
export type Audience = Scope | "anybody";

export function isAmong({ role, scopes }: Pick<Client, "role" | "scopes">, needs: Audience): boolean {
  return needs === "anybody" || (role === "operator" && holdsScope(scopes, needs));
}

export interface Hub {
  readonly clients: ReadonlySet<Client>;
  add(client: Client): void;
  remove(client: Client): void;
  /**
   * To operators who hold a scope: that of looking unless another is named, or `anybody` where an event tells nothing.
   * Events are never replayed; a gap in `seq` says so.
   */
  broadcast(
    event: string,
    payload: unknown,
    options?: { readonly needs?: Audience; readonly stateVersion?: StateVersion },
  ): void;
  /** To one client, with the shared sequence but seen by nobody else. */
  sendTo(client: Client, event: string, payload: unknown, options?: { readonly stateVersion?: StateVersion }): void;
  /** Closes the connections of a device whose token is no longer good; not the one that asked for it. */
  dropDevice(deviceId: string, role: string, but?: Client): void;
  closeAll(code: number, reason: string): void;
}

export function createHub(clock: Clock): Hub {
  const clients = new Set<Client>();
  let seq = 0;
  let ticking: NodeJS.Timeout | undefined;

  const broadcast: Hub["broadcast"] = (event, payload, { needs = "operator.read", stateVersion } = {}) => {
    if (clients.size === 0) return;
    const frame = JSON.stringify({
      type: "event",
      event,
      payload,
      seq: ++seq,
      ...(stateVersion === undefined ? {} : { stateVersion }),
    });
    for (const client of clients) if (isAmong(client, needs)) client.send(frame);
  };

  return {
    clients,
    broadcast,
    add(client) {
      clients.add(client);
      // No timer runs while nobody listens: an idle gateway is really idle.
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
