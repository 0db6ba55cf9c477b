// The context that the cases of one table get.
import type { Store } from "../store.ts";

export interface Ground {
  /** The current store. */
  store(): Store;
  /** Closes the store and opens it again; the result is the current store. */
  restart(): Promise<Store>;
}
