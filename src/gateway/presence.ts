// Presence: the gateway itself, connected clients and beacons, one row per instance, forgotten after a while.
import { hostname, release } from "node:os";

import type { Clock } from "../base/clock.ts";
import type { PresenceEntry } from "../protocol/methods/system.ts";
import type { Client } from "./client.ts";

export type Beacon = Partial<Omit<PresenceEntry, "ts">> & { readonly text: string };

const TTL_MS = 5 * 60_000;
const MAX_ROWS = 200;

export interface Presence {
  /** The host name of this machine. */
  readonly host: string;
  list(): PresenceEntry[];
  /** The list as JSON, limited to this many rows: nodes and people's clients first, then the most recent ones. */
  json(maxRows: number): string;
  version(): number;
  /** False when this kind of client has no row (short-lived command lines). */
  seen(client: Client, reason: "connect" | "disconnect"): boolean;
  /** What an instance reports about itself; `from` is used when it names no host. */
  beacon(row: Beacon, from: string): void;
}

interface PresenceRow {
  readonly row: PresenceEntry;
  /** Open connections of this instance: while there is one, the instance is present. */
  readonly open: ReadonlyMap<string, Client["role"]>;
  /** The row as JSON, created when it is first sent: it is sent far more often than it changes. */
  text?: string;
}

/** The modes that people look for first when there are more rows than are sent. */
const foremost = new Set(["node", "ui", "webchat"]);

export function createPresence(clock: Clock, version: string): Presence {
  /** By instance id in lower case, else device id; the least recent first. */
  const kept = new Map<string, PresenceRow>();
  const host = hostname();
  const platform = `${process.platform} ${release()}`;
  const self = (): PresenceEntry => ({
    host,
    version,
    platform,
    deviceFamily: process.platform === "darwin" ? "Mac" : process.platform === "win32" ? "Windows" : "Linux",
    modelIdentifier: process.arch,
    mode: "gateway",
    reason: "self",
    text: `Gateway: ${host} · ${version}`,
    ts: clock.now(),
  });
  let changes = 1;

  const put = (key: string, entry: PresenceRow): void => {
    kept.delete(key);
    kept.set(key, entry);
    changes += 1;
    if (kept.size <= MAX_ROWS) return;
    const absent = [...kept].find(([, { open }]) => open.size === 0);
    kept.delete(absent?.[0] ?? [...kept.keys()][0] ?? key);
  };
  const forget = (): void => {
    const since = clock.now() - TTL_MS;
    for (const [key, { row, open }] of kept) if (row.ts < since && open.size === 0) kept.delete(key);
  };

  /** Several connections of one device are one row. */
  const keyOf = (instanceId: string, deviceId: string | undefined): string => {
    const key = instanceId.toLowerCase();
    if (deviceId === undefined || kept.has(key)) return key;
    return [...kept].find(([, { row }]) => row.deviceId === deviceId)?.[0] ?? key;
  };

  return {
    host,
    list() {
      forget();
      return [self(), ...[...kept.values()].map(({ row }) => row)];
    },
    json(maxRows) {
      forget();
      const rows = [...kept.values()];
      const shown = rows.length < maxRows ? rows : foremostOf(rows).slice(0, maxRows - 1);
      return `[${[JSON.stringify(self()), ...shown.map((entry) => (entry.text ??= JSON.stringify(entry.row)))].join(",")}]`;
    },
    version: () => changes,
    seen(client, reason) {
      if (client.info.mode === "cli") return false;
      forget();
      const instanceId = client.info.instanceId ?? client.deviceId ?? client.connId;
      const key = keyOf(instanceId, client.deviceId);
      const known = kept.get(key);
      const open = new Map(known?.open);
      if (reason === "connect") open.set(client.connId, client.role);
      else open.delete(client.connId);
      put(key, { row: rowOf(client, instanceId, known?.row, open, reason, clock.now()), open });
      return true;
    },
    beacon(row, from) {
      forget();
      const key = keyOf(row.instanceId ?? row.deviceId ?? from, row.deviceId);
      const known = kept.get(key);
      const { ip, ...reported } = row;
      put(key, {
        row: {
          host: "unknown",
          version: "unknown",
          platform: "unknown",
          mode: "unknown",
          reason: "beacon",
          ...known?.row,
          ...reported,
          ...ipOf(ip, known?.row.ip),
          ts: clock.now(),
        },
        open: known?.open ?? new Map(),
      });
    },
  };
}

function foremostOf(rows: readonly PresenceRow[]): PresenceRow[] {
  const isForemost = ({ row }: PresenceRow): boolean => foremost.has(row.mode);
  const newest = rows.toReversed();
  return [...newest.filter(isForemost), ...newest.filter((entry) => !isForemost(entry))];
}

function rowOf(
  { info, local, address, deviceId, scopes, role }: Client,
  instanceId: string,
  known: PresenceEntry | undefined,
  open: PresenceRow["open"],
  reason: "connect" | "disconnect",
  now: number,
): PresenceEntry {
  const name = info.displayName ?? info.id;
  // One device may be both operator and node: it is one row with both roles.
  const roles = [...new Set(open.size === 0 ? [role] : open.values())];
  return {
    host: name,
    ...ipOf(local ? undefined : address, known?.ip),
    version: info.version,
    platform: info.platform,
    ...(info.deviceFamily === undefined ? {} : { deviceFamily: info.deviceFamily }),
    ...(info.modelIdentifier === undefined ? {} : { modelIdentifier: info.modelIdentifier }),
    mode: info.mode,
    ...(deviceId === undefined ? {} : { deviceId }),
    roles,
    scopes,
    ...(known?.tags === undefined ? {} : { tags: known.tags }),
    ...(known?.lastInputSeconds === undefined ? {} : { lastInputSeconds: known.lastInputSeconds }),
    instanceId,
    reason: open.size > 0 ? "connect" : reason,
    ts: now,
    text: `${role === "node" ? "Node" : "Client"}: ${name} · mode ${info.mode}`,
  };
}

/** Omits an address of this machine, so that it does not replace a reported one. */
function ipOf(reported: string | undefined, known: string | undefined): { ip?: string } {
  const isHere = reported === undefined || /^(?:127\.|::1$|::ffff:127\.|localhost$)/i.test(reported.trim());
  const ip = isHere ? known : reported;
  return ip === undefined ? {} : { ip };
}
