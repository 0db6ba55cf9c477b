// The tables of paired devices and of pending pairing requests.
import { fromJson, readRecord, readRecords, toJson } from "../row.ts";
import { act, change, firstRow, rows, type ReportDamage, type Sql } from "../sql.ts";
import type { DeviceTable } from "../store.ts";

const upsertDevice = `INSERT INTO devices (device_id, record) VALUES (?, ?)
  ON CONFLICT (device_id) DO UPDATE SET record = excluded.record`;
const upsertRequest = `INSERT INTO device_requests (request_id, device_id, expires_at, body) VALUES (?, ?, ?, ?)
  ON CONFLICT (request_id) DO UPDATE SET device_id = excluded.device_id, expires_at = excluded.expires_at,
    body = excluded.body`;

export function createDevices(sql: Sql, report: ReportDamage): DeviceTable {
  return {
    get: (deviceId) =>
      sql.read(function* () {
        const found = yield* firstRow("SELECT record FROM devices WHERE device_id = ?", [deviceId]);
        return readRecord("devices", deviceId, found, (row) => fromJson(row, "record"));
      }),
    list: () =>
      sql.read(function* () {
        const found = yield* rows("SELECT device_id, record FROM devices ORDER BY n");
        return readRecords("devices", "device_id", found, (row) => fromJson(row, "record"), report);
      }),
    async put(deviceId, record) {
      const values = [deviceId, toJson(record)];
      return sql.write(() => act(upsertDevice, values), { durable: true });
    },
    delete: (deviceId) =>
      sql.write(
        function* () {
          return (yield* change("DELETE FROM devices WHERE device_id = ?", [deviceId])) > 0;
        },
        { durable: true },
      ),
    pending: createPending(sql, report),
  };
}

function createPending(sql: Sql, report: ReportDamage): DeviceTable["pending"] {
  return {
    get: (requestId) =>
      sql.read(function* () {
        const found = yield* firstRow("SELECT body FROM device_requests WHERE request_id = ?", [requestId]);
        return readRecord("device_requests", requestId, found, (row) => fromJson(row, "body"));
      }),
    byDevice: (deviceId) =>
      sql.read(function* () {
        const found = yield* firstRow("SELECT body FROM device_requests WHERE device_id = ? ORDER BY n DESC LIMIT 1", [
          deviceId,
        ]);
        return readRecord("device_requests", deviceId, found, (row) => fromJson(row, "body"));
      }),
    list: (now) =>
      sql.read(function* () {
        const found = yield* rows("SELECT request_id, body FROM device_requests WHERE expires_at > ? ORDER BY n", [
          now,
        ]);
        return readRecords("device_requests", "request_id", found, (row) => fromJson(row, "body"), report);
      }),
    async put({ requestId, deviceId, expiresAt, body }) {
      const values = [requestId, deviceId, expiresAt, toJson(body)];
      return sql.write(() => act(upsertRequest, values), { durable: true });
    },
    delete: (requestId) =>
      sql.write(
        function* () {
          return (yield* change("DELETE FROM device_requests WHERE request_id = ?", [requestId])) > 0;
        },
        { durable: true },
      ),
    prune: (now) =>
      sql.write(() => change("DELETE FROM device_requests WHERE expires_at <= ?", [now]), { durable: false }),
  };
}
