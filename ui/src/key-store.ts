// Stores the key pair in IndexedDB, where it can be used but not exported.
import type { KeyStore } from "./identity.ts";

const databaseName = "openclaw";
const table = "keys";
const slot = "device";

export function openKeyStore(factory: IDBFactory): KeyStore {
  return {
    async get() {
      const base = await open(factory);
      return asPair(await settled(base.transaction(table).objectStore(table).get(slot)));
    },
    async put(pair) {
      const base = await open(factory);
      const store = base.transaction(table, "readwrite").objectStore(table);
      // One transaction reads and writes, so that the second of two tabs finds the key of the first.
      const earlier = asPair(await settled(store.get(slot)));
      if (earlier !== undefined) return earlier;
      await settled(store.put(pair, slot));
      return pair;
    },
  };
}

function open(factory: IDBFactory): Promise<IDBDatabase> {
  const request = factory.open(databaseName, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(table);
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's store failed"));
  });
}

function asPair(found: unknown): CryptoKeyPair | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  return "privateKey" in found && "publicKey" in found ? (found as CryptoKeyPair) : undefined;
}
