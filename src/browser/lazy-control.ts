// The browser control services of this machine and of sandboxes, loaded with the first request.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { forwardTo, lazy } from "../base/lazy.ts";
import type { BrowserDeps } from "./browsers.ts";
import type { BrowserControl } from "./control.ts";
import { isExtensionInstalled } from "./extension-files.ts";
import { processFileOf } from "./process-file.ts";
import type { SandboxBrowserDeps, SandboxBrowsers } from "./sandbox/sandbox-browsers.ts";
import { createLazyRelay } from "./relay/lazy-relay.ts";

export interface LazyBrowser extends BrowserControl {
  /** Lets an installed extension connect before the first request. */
  startInstalledRelay(): Promise<void>;
  /** Takes over browsers of a gateway that was killed; loads nothing when there are none. */
  recover(): Promise<void>;
  /** Applies a changed config. */
  reload(): Promise<void>;
}

export function createLazyBrowser(deps: BrowserDeps): LazyBrowser {
  const { guard, log, paths, ports } = deps;
  const relayPort = (): number => {
    const { relay: port } = ports();
    guard.reservePort(port);
    return port;
  };
  const relay = createLazyRelay({ stateDir: paths.state, port: relayPort, log });
  const service = lazy(async () => (await import("./service.ts")).createBrowserService({ ...deps, relay }));
  return {
    ...forwardTo(service.get, "request"),
    async startInstalledRelay() {
      if (isExtensionInstalled(paths.state)) await relay.get();
    },
    async recover() {
      if (hasLeftBrowsers(paths.state)) await (await service.get()).recover();
    },
    reload: async () => (await service.opened())?.reload(),
    async close() {
      await (await service.opened())?.close();
      await relay.close();
    },
  };
}

export function createLazySandboxBrowsers(deps: SandboxBrowserDeps): SandboxBrowsers {
  const browsers = lazy(async () => (await import("./sandbox/sandbox-browsers.ts")).createSandboxBrowsers(deps));
  return {
    ...forwardTo(browsers.get, "request"),
    close: async () => (await browsers.opened())?.close(),
  };
}

/** A browser that was not stopped leaves the record of its process. */
function hasLeftBrowsers(state: string): boolean {
  const folder = join(state, "browser");
  return existsSync(folder) && readdirSync(folder).some((name) => existsSync(processFileOf(join(folder, name))));
}
