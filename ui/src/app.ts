// What every view receives: the client of the gateway and the state of the page.
import type { Client } from "./client.ts";
import type { PageState, Store } from "./state.ts";

export interface App {
  readonly client: Client;
  readonly store: Store<PageState>;
}
