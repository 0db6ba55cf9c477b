// What every view is given: the way to the gateway and what the page knows.
import type { Client } from "./client.ts";
import type { PageState, Store } from "./state.ts";

export interface App {
  readonly client: Client;
  readonly store: Store<PageState>;
}
