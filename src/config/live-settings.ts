// The current config: read once, replaced by a valid edit, kept after an invalid one.
import type { Env, Paths } from "../base/paths.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import type { Config } from "./schema/index.ts";

/** The current config. `revision` changes whenever `config` does. */
export interface Settings {
  readonly config: Config;
  readonly revision: string;
  readonly locate: (path: string) => { readonly file: string; readonly line: number } | undefined;
}

export interface LiveSettings {
  readonly now: () => Settings;
  readonly loaded: () => LoadedConfig;
  /** Replaces the current config; throws for an invalid one. */
  use(next: LoadedConfig, takesRestart?: boolean): void;
  /** The last config that needed no restart: a gateway has run with it. */
  readonly good: () => LoadedConfig;
  /** Adds an override to every config until the process ends; an override that makes it invalid is skipped. */
  overlayBy(overlay: ((base: LoadedConfig) => LoadedConfig) | undefined): void;
  /** The config on disk, current or not. */
  readonly read: () => LoadedConfig;
}

export function createSettings(paths: Paths, env: Env, first: LoadedConfig): LiveSettings {
  let loaded = first;
  let settings = toSettings(first, 1);
  let good = first;
  let revision = 1;
  let overlay: ((base: LoadedConfig) => LoadedConfig) | undefined;
  const inForce = (): void => {
    const laid = overlay?.(loaded) ?? loaded;
    settings = toSettings(laid.valid ? laid : loaded, ++revision);
  };
  return {
    now: () => settings,
    loaded: () => loaded,
    read: () => loadConfig({ paths, env }),
    good: () => good,
    use(next, takesRestart = false) {
      if (!next.valid) throw new Error("an invalid config cannot become the current one");
      loaded = next;
      if (!takesRestart) good = next;
      inForce();
    },
    overlayBy(next) {
      overlay = next;
      inForce();
    },
  };
}

function toSettings(loaded: LoadedConfig, revision: number): Settings {
  return { config: loaded.config, revision: String(revision), locate: (path) => loaded.locate(path) };
}
