// Who is here: the gateway itself, connected clients and beacons, one row an instance, forgotten after a while.
import { hostname, release } from "node:os";

import type { Clock } from "../base/clock.ts";
import type { Client } from "./client.ts";

export interface PresenceRow {
  readonly host: string;
  readonly ip?: string;
  readonly version: string;
  readonly platform: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly mode: string;
  readonly reason: string;
  readonly text: string;
  readonly ts: number;
  readonly deviceId?: string;
  readonly instanceId?: string;
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly lastInputSeconds?: number;
}

const TTL_MS = 5 * 60_000;
const MAX_ROWS = 200;

export interface Presence {
  list(): PresenceRow[];
  version(): number;
  /** False when this kind of client leaves no row (short-lived command lines). */
  seen(client: Client, reason: "connect" | "disconnect"): boolean;
  beacon(key: string, row: Partial<PresenceRow> & { readonly text: string }): void;
}

export function createPresence(clock: Clock, version: string): Presence {
  const rows = new Map<string, PresenceRow>();
  const self = (): PresenceRow => ({
    host: hostname(),
    version,
    platform: `${process.platform} ${release()}`,
    deviceFamily: process.platform === "darwin" ? "Mac" : process.platform === "win32" ? "Windows" : "Linux",
    modelIdentifier: process.arch,
    mode: "gateway",
    reason: "self",
    text: `Gateway: ${hostname()} · ${version}`,
    ts: clock.now(),
  });
  let changes = 1;

  const put = (key: string, row: PresenceRow): void => {
    rows.delete(key);
    rows.set(key, row);
    changes += 1;
    const oldest = rows.size > MAX_ROWS ? rows.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) rows.delete(oldest.value);
  };

  return {
    list() {
      const since = clock.now() - TTL_MS;
      for (const [key, row] of rows) if (row.ts < since && row.reason === "disconnect") rows.delete(key);
      return [self(), ...rows.values()];
    },
    version: () => changes,
    seen(client, reason) {
      if (client.info.mode === "cli") return false;
      const name = client.info.displayName ?? client.info.id;
      put((client.info.instanceId ?? client.deviceId ?? client.connId).toLowerCase(), {
        host: name,
        ...(client.local ? {} : { ip: client.address }),
        version: client.info.version,
        platform: client.info.platform,
        ...(client.info.deviceFamily === undefined ? {} : { deviceFamily: client.info.deviceFamily }),
        ...(client.info.modelIdentifier === undefined ? {} : { modelIdentifier: client.info.modelIdentifier }),
        mode: client.info.mode,
        ...(client.deviceId === undefined ? {} : { deviceId: client.deviceId }),
        roles: [client.role],
        scopes: client.scopes,
        instanceId: client.info.instanceId ?? client.deviceId ?? client.connId,
        reason,
        ts: clock.now(),
        text: `${client.role === "node" ? "Node" : "Client"}: ${name} · mode ${client.info.mode}`,
      });
      return true;
    },
    beacon(key, row) {
      const known = rows.get(key.toLowerCase());
      put(key.toLowerCase(), {
        host: "unknown",
        version: "unknown",
        platform: "unknown",
        mode: "unknown",
        reason: "beacon",
        ...known,
        ...row,
        ts: clock.now(),
      });
    },
  };
}
