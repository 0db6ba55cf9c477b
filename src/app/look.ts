// The store opened for looking only, beside the gateway that owns it.
import { openStore } from "../store/builtin.ts";
import type { Store } from "../store/store.ts";

/** Every write rejects with `store.read-only`. */
export function openStoreForLooking(file: string): Promise<Store> {
  return openStore({ file, readOnly: true });
}
