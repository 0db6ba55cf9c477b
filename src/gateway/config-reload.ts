// Applies config changes to the running gateway: immediately where possible, by a restart where necessary.
import { isDeepStrictEqual } from "node:util";

import type { Restart } from "../admin/deps.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { LiveSettings } from "../config/live-settings.ts";
import { secretsIn } from "../config/redact.ts";
import { planReload } from "../config/reload.ts";
import { watchConfig } from "../config/watch.ts";
import type { GatewayContext } from "./context.ts";

export interface ReloadDeps {
  readonly settings: LiveSettings;
  readonly log: Log;
  readonly mask: Mask;
}

/** Reads the config file again. An invalid config is only logged. */
export function reloadConfig({ settings, log, mask }: ReloadDeps, restart: Restart): void {
  const next = settings.read();
  if (next.valid && isDeepStrictEqual(next.parsed, settings.loaded().parsed)) return;
  if (!next.valid) {
    for (const { path, message, file, line, hint } of next.issues.slice(0, 10))
      log.error(`config not reloaded: ${path}: ${message}`, { file, line, hint });
    return;
  }
  const plan = planReload(settings.loaded().config, next.config, modeOf(settings));
  settings.use(next, plan.restart.length + plan.ignored.length > 0);
  mask.know(secretsIn(next.config, next.env));
  if (plan.hot.length > 0) log.info(`config reloaded: ${plan.hot.join(", ")}`);
  if (plan.restart.length > 0) restart(`config changed: ${plan.restart.join(", ")}`, 0);
  if (plan.ignored.length > 0)
    log.warn(`config changed, but these need a restart: ${plan.ignored.join(", ")}`, {
      hint: "openclaw gateway restart",
    });
}

export interface ConfigReload {
  /** Applies a change now if it needs no restart, so that it counts for a client that just connects. */
  check(): void;
  close(): void;
}

/** Watches the config files. */
export function followConfig(settings: LiveSettings, context: Pick<GatewayContext, "applyConfigFile">): ConfigReload {
  const { mode, debounceMs = 300 } = settings.now().config.gateway?.reload ?? {};
  if (mode === "off") return { check: () => {}, close: () => {} };
  const watcher = watchConfig({
    files: settings.loaded().files,
    debounceMs,
    onChange() {
      context.applyConfigFile();
      watcher.follow(settings.loaded().files);
    },
  });
  return { check: () => watcher.look(() => isHot(settings)), close: () => watcher.close() };
}

/** A restart would disconnect the client that just connects. */
function isHot(settings: LiveSettings): boolean {
  const next = settings.read();
  return next.valid && planReload(settings.loaded().config, next.config, modeOf(settings)).restart.length === 0;
}

const modeOf = (settings: LiveSettings): NonNullable<Parameters<typeof planReload>[2]> =>
  settings.now().config.gateway?.reload?.mode ?? "hybrid";
