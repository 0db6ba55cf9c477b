// The config in force: read once, swapped when a valid edit arrives, kept when an invalid one does.
import type { Env, Paths } from "../base/paths.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import type { Config } from "./schema/index.ts";

/** The config in force. `revision` changes whenever `config` does. */
export interface Settings {
  readonly config: Config;
  readonly revision: string;
  readonly locate: (path: string) => { readonly file: string; readonly line: number } | undefined;
}

export interface LiveSettings {
  readonly now: () => Settings;
  readonly loaded: () => LoadedConfig;
  /** Puts a valid reading in force; throws for an invalid one, which must never be. */
  use(next: LoadedConfig, takesRestart?: boolean): void;
  /** The last one in force that needed no restart: a gateway has run with it. */
  readonly good: () => LoadedConfig;
  /** Puts something over every reading from now on, until the process ends; one that makes it invalid is left out. */
  overlayBy(overlay: ((base: LoadedConfig) => LoadedConfig) | undefined): void;
  /** What is on disk now, in force or not. */
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
      if (!next.valid) throw new Error("an invalid config cannot be put in force");
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
