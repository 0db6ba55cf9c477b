// Opens the tool catalog with the tools of this build.
import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import { silentLog } from "../base/log.ts";
import { createMask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import { defaultAgentId, workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema/index.ts";
import { approvalsPath } from "../exec/policy/file.ts";
import type { BrowserControl } from "../browser/control.ts";
import type { Extraction } from "../media/extract/extract.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import type { Memory } from "../memory/memory.ts";
import { createModelBook } from "../model/book.ts";
import type { ModelBook } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { builtinTools, recoverFiles, withFiles, type FileToolDeps } from "../tool/builtin.ts";
import { createCatalog, type Catalog, type ChangingTools } from "../tool/catalog.ts";
import { createMcpClient } from "../mcp/client/client.ts";
import type { Tool } from "../tool/tool.ts";
import type { OpenExec } from "./exec.ts";
import { createLateServices, type LateServices } from "../tool/gateway-services.ts";
import { createSettings, type Settings } from "../config/live-settings.ts";

export { recoverFiles, withFiles };

/** What the tools that run commands need. */
export type CatalogExec = Pick<OpenExec, "exec" | "processes" | "sandboxes" | "mask">;

/** A read-only catalog has none of them. */
interface CatalogPorts {
  readonly services: LateServices;
  readonly memory: Pick<Memory, "search" | "read">;
  readonly pluginTools?: PluginToolSets | undefined;
  readonly mcp?: ChangingTools | undefined;
  readonly guard: Guard;
  readonly extraction: Extraction;
  readonly browser: BrowserControl;
  readonly media: MediaStore;
  /** The environment with the variables of the config, for keys of services. */
  readonly serviceEnv: () => Env;
}

export type PluginToolSets = readonly { readonly id: string; readonly tools: readonly Tool[] }[];

type CatalogModels = Pick<ModelBook, "imageModels" | "list">;

/** What the file tools share with undo. */
export type FilePorts = Pick<FileToolDeps, "lanes" | "fileSaver">;

export function fileDeps(paths: Paths, ports: FilePorts): FileToolDeps {
  return {
    stateDir: paths.state,
    configPath: paths.config,
    home: paths.home,
    approvalsPath: approvalsPath(paths.state),
    ...ports,
  };
}

export function openCatalog(
  paths: Paths,
  store: Store,
  settings: () => Settings,
  commands: CatalogExec,
  models: CatalogModels,
  files: FilePorts = { lanes: createLanes() },
  ports: CatalogPorts = unusedPorts(),
): Catalog {
  const plugins = ports.pluginTools ?? [];
  return createCatalog({
    tools: builtinTools({
      store,
      clock: systemClock,
      version: readVersion(),
      ...fileDeps(paths, files),
      protectedFolders: async (call) => (await import("../tool/trust.ts")).protectedFolders(store, paths, call),
      isConfinedToChat: async (call) => (await import("../tool/trust.ts")).isConfinedToChat(store, call),
      isUntrustedCall: async (call) => (await import("../tool/trust.ts")).isUntrustedCall(store, call),
      exec: commands.exec,
      processes: commands.processes,
      mask: commands.mask,
      models,
      ...ports,
    }),
    pluginTools: plugins.flatMap(({ tools }) => tools),
    plugins,
    changing: ports.mcp,
    settings,
    workspaceOf: (config, agent) => workspaceOf(config, agent, paths),
    sandboxPaths: (subject) => commands.sandboxes.pathsOf(subject),
  });
}

/** A read-only catalog uses none of them: the factories only store their dependencies. */
function unusedPorts(): CatalogPorts {
  return {
    memory: {} as Memory,
    services: createLateServices(),
    guard: {} as Guard,
    extraction: {} as Extraction,
    browser: {} as BrowserControl,
    media: {} as MediaStore,
    serviceEnv: () => ({}),
  };
}

/** A catalog without a store or a lock, for listing tools and never for calling them. */
export function createReadingCatalog(paths: Paths, env: Env, loaded: LoadedConfig): Catalog {
  // The factories only store their dependencies, and no tool runs from here.
  const settings = createSettings(paths, env, loaded).now;
  const config = (): Config => settings().config;
  const models = createModelBook({ config, env, paths, clock: systemClock, log: silentLog });
  const ports = unusedPorts();
  const mcp = createMcpClient({
    paths,
    env,
    version: readVersion(),
    clock: systemClock,
    log: silentLog,
    mask: createMask(),
    config,
    guard: ports.guard,
    workspace: () => workspaceOf(config(), defaultAgentId(config()), paths),
  });
  return openCatalog(paths, {} as Store, settings, {} as CatalogExec, models, undefined, { ...ports, mcp });
}
