// Opens the browsers of this node for the gateway, when the config offers them and there is one to offer.
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { machineGuardedPaths } from "../../exec/guard/guarded-paths.ts";
import { createLazyBrowser } from "../../browser/lazy-control.ts";
import { findProgram } from "../../browser/program.ts";
import { configuredPorts } from "../../browser/profiles.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema/index.ts";
import { createGuard } from "../../media/guard/guard.ts";
import { createMediaStore } from "../../media/store.ts";
import { createBrowserProxy } from "./browser-proxy.ts";
import type { Command } from "./commands.ts";

export interface NodeBrowser {
  /** `browser.proxy`; undefined when this node offers no browser. */
  readonly command: Command | undefined;
  close(): Promise<void>;
}

const nothing: NodeBrowser = { command: undefined, async close() {} };

export function openNodeBrowser({ paths, env, log }: { paths: Paths; env: Env; log: Log }): NodeBrowser {
  const loaded = loadConfig({ paths, env });
  if (!loaded.valid) {
    log.warn("the config of this node is not valid, so its browser is not offered: openclaw doctor");
    return nothing;
  }
  const { config } = loaded;
  if (!isOffered(config, env)) return nothing;
  const guard = createGuard({ config: () => config, env });
  const media = createMediaStore({ state: paths.state, clock: systemClock, log });
  const browser = createLazyBrowser({
    paths,
    env,
    config: () => config,
    ports: () => configuredPorts(env, config),
    guard,
    media,
    log,
    hiddenPaths: (userData) => ({ ...machineGuardedPaths(paths, env), workspace: userData }),
  });
  const report = (error: unknown): void => log.warn(`browser: ${String(error)}`);
  browser.startInstalledRelay().catch(report);
  browser.recover().catch(report);
  return {
    command: createBrowserProxy({ browser, media, allowProfiles: config.nodeHost?.browserProxy?.allowProfiles }),
    async close() {
      await browser.close();
      media.close();
    },
  };
}

/** A node without a browser does not offer one: calls without a target would all go there and fail. */
function isOffered({ browser = {}, nodeHost }: Config, env: Env): boolean {
  if (browser.enabled === false || nodeHost?.browserProxy?.enabled === false) return false;
  const urls = [browser.cdpUrl, ...Object.values(browser.profiles ?? {}).map(({ cdpUrl }) => cdpUrl)];
  if (urls.some((url) => url !== undefined && url !== "")) return true;
  // A wrong path is reported to the caller, as on the gateway.
  return browser.executablePath !== undefined || findProgram(env, undefined) !== undefined;
}
