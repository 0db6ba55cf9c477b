// What tools there are and who may use them, without a store or a lock: for looking, never for calling.
import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import { workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { approvalsPath } from "../exec/approval/file.ts";
import type { Store } from "../store/store.ts";
import { builtinTools } from "../tool/builtin.ts";
import { createCatalog, type Catalog } from "../tool/catalog.ts";
import { createSettings } from "./settings.ts";

export function createReadingCatalog(paths: Paths, env: Env, loaded: LoadedConfig): Catalog {
  const settings = createSettings(paths, env, loaded);
  return createCatalog({
    tools: builtinTools({
      // The factories only keep it; nothing is read from it until a tool runs, and none runs from here.
      store: {} as Store,
      clock: systemClock,
      version: readVersion(),
      stateDir: paths.state,
      configPath: paths.config,
      home: paths.home,
      approvalsPath: approvalsPath(paths.state),
      lanes: createLanes(),
    }),
    plugins: [],
    settings: settings.now,
    workspaceOf: (config, agent) => workspaceOf(config, agent, paths),
  });
}
