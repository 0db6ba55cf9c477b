// The catalogue of this build: its tools, judged by the config in force.
import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import { workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { approvalsPath } from "../exec/approval/file.ts";
import type { Store } from "../store/store.ts";
import { builtinTools } from "../tool/builtin.ts";
import { createCatalog, type Catalog, type Settings } from "../tool/catalog.ts";
import type { OpenExec } from "./exec.ts";
import { createSettings } from "./settings.ts";

/** What the tools that run commands need. */
export type CatalogExec = Pick<OpenExec, "exec" | "processes" | "boxes" | "mask">;

export function openCatalog(paths: Paths, store: Store, settings: () => Settings, commands: CatalogExec): Catalog {
  return createCatalog({
    tools: builtinTools({
      store,
      clock: systemClock,
      version: readVersion(),
      stateDir: paths.state,
      configPath: paths.config,
      home: paths.home,
      approvalsPath: approvalsPath(paths.state),
      lanes: createLanes(),
      exec: commands.exec,
      processes: commands.processes,
      mask: commands.mask,
    }),
    plugins: [],
    settings,
    workspaceOf: (config, agent) => workspaceOf(config, agent, paths),
    sandboxPlace: (subject) => commands.boxes.place(subject),
  });
}

/** Without a store or a lock: for looking, never for calling. */
export function createReadingCatalog(paths: Paths, env: Env, loaded: LoadedConfig): Catalog {
  // The factories only keep what they get; nothing of it is used until a tool runs, and none runs from here.
  return openCatalog(paths, {} as Store, createSettings(paths, env, loaded).now, {} as CatalogExec);
}
