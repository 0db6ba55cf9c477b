// The extension relay, loaded with the first use of a relay profile or when the extension is installed.
import { lazy } from "../../base/lazy.ts";
import type { Relay, RelayDeps } from "./relay.ts";

export interface LazyRelay {
  /** Loads and starts the relay. */
  get(): Promise<Relay>;
  /** The relay when it has been started. */
  opened(): Promise<Relay | undefined>;
  close(): Promise<void>;
}

export function createLazyRelay(deps: RelayDeps): LazyRelay {
  const relay = lazy(async () => {
    const opened = (await import("./relay.ts")).createRelay(deps);
    await opened.start();
    return opened;
  });
  return { get: relay.get, opened: relay.opened, close: async () => (await relay.opened())?.close() };
}
