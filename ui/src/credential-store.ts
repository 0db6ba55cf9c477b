// Keeps secrets and settings of this browser between visits, apart for each gateway of one origin.
import type { Secrets } from "./credential.ts";
import { textOf } from "./credential.ts";

export interface CredentialStore {
  /** A device token belongs to one key; with another key it is worthless and not returned. */
  read(deviceId: string | undefined): Secrets;
  /** Passwords and one-time codes are never written. */
  write(secrets: Secrets, deviceId: string | undefined): void;
}

type StringStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function createCredentialStore(storage: StringStorage, basePath: string): CredentialStore {
  const suffix = basePath === "/" ? "" : `:${basePath}`;
  const settingsKey = `openclaw.control.settings.v1${suffix}`;
  const deviceKey = `openclaw.control.device.v1${suffix}`;
  return {
    read(deviceId) {
      const kept = readObject(storage, deviceKey);
      const device =
        deviceId !== undefined && textOf(kept, "deviceId") === deviceId ? textOf(kept, "token") : undefined;
      const token = textOf(readObject(storage, settingsKey), "token");
      return { ...(device === undefined ? {} : { device }), ...(token === undefined ? {} : { token }) };
    },
    write({ device, token }, deviceId) {
      writeObject(storage, deviceKey, device === undefined ? undefined : { token: device, deviceId });
      const { token: _old, ...settings } = { token: undefined, ...readObject(storage, settingsKey) };
      const next = token === undefined ? settings : { ...settings, token };
      writeObject(storage, settingsKey, Object.keys(next).length === 0 ? undefined : next);
    },
  };
}

/** For browsers that forbid storage: all works, until the tab is closed. */
export function createMemoryStorage(): StringStorage {
  const rows = new Map<string, string>();
  return {
    getItem: (key) => rows.get(key) ?? null,
    setItem: (key, words) => void rows.set(key, words),
    removeItem: (key) => void rows.delete(key),
  };
}

function readObject(storage: StringStorage, key: string): Record<string, unknown> {
  const words = storage.getItem(key);
  if (words === null) return {};
  try {
    const value: unknown = JSON.parse(words);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {}; // a half-written or foreign row: the person pairs again
  }
}

function writeObject(storage: StringStorage, key: string, value: object | undefined): void {
  if (value === undefined) storage.removeItem(key);
  else storage.setItem(key, JSON.stringify(value));
}
