// Opens the store read-only while the gateway that owns it runs.
import { openStore } from "../store/builtin.ts";
import type { Store } from "../store/store.ts";

/** Every write rejects with `store.read-only`. */
export function openReadOnlyStore(file: string): Promise<Store> {
  return openStore({ file, readOnly: true });
}
