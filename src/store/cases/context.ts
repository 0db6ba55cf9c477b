// What the cases of one table get to stand on.
import type { Store } from "../store.ts";

export interface Ground {
  /** The store in use. */
  store(): Store;
  /** The same store, closed and opened again; from then on the one in use. */
  restart(): Promise<Store>;
}
