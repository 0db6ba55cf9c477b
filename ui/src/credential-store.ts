// Stores secrets and settings in this browser, separately for each gateway of one origin.
import type { Secrets } from "./credential.ts";
import { textOf } from "./credential.ts";

export interface CredentialStore {
  /** A device token belongs to one key and is not returned for another. */
  read(deviceId: string | undefined): Secrets;
  /** Never stores passwords and one-time codes. */
  write(secrets: Secrets, deviceId: string | undefined): void;
}

type StringStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function createCredentialStore(storage: StringStorage, basePath: string): CredentialStore {
  const suffix = basePath === "/" ? "" : `:${basePath}`;
  const settingsKey = `openclaw.control.settings.v1${suffix}`;
  const deviceKey = `openclaw.control.device.v1${suffix}`;
  return {
    read(deviceId) {
      const stored = readObject(storage, deviceKey);
      const device =
        deviceId !== undefined && textOf(stored, "deviceId") === deviceId ? textOf(stored, "token") : undefined;
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

/** For browsers that forbid storage: works until the tab is closed. */
export function createMemoryStorage(): StringStorage {
  const rows = new Map<string, string>();
  return {
    getItem: (key) => rows.get(key) ?? null,
    setItem: (key, text) => void rows.set(key, text),
    removeItem: (key) => void rows.delete(key),
  };
}

function readObject(storage: StringStorage, key: string): Record<string, unknown> {
  const text = storage.getItem(key);
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {}; // a damaged row: the person pairs again
  }
}

function writeObject(storage: StringStorage, key: string, value: object | undefined): void {
  if (value === undefined) storage.removeItem(key);
  else storage.setItem(key, JSON.stringify(value));
}
