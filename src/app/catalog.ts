// The catalogue of this build: its tools, judged by the config in force.
import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import { workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { approvalsPath } from "../exec/policy/file.ts";
import type { Memory } from "../memory/memory.ts";
import type { Store } from "../store/store.ts";
import { builtinTools, recoverFiles, withFiles, type FileToolDeps } from "../tool/builtin.ts";
import { createCatalog, type Catalog } from "../tool/catalog.ts";
import type { OpenExec } from "./exec.ts";
import { createServiceSlot, type ServiceSlot } from "../tool/gateway-services.ts";
import { createSettings, type Settings } from "../config/live-settings.ts";

export { recoverFiles, withFiles };

/** What the tools that run commands need. */
export type CatalogExec = Pick<OpenExec, "exec" | "processes" | "sandboxes" | "mask">;

/** A catalogue that is only looked at has none of it. */
type CatalogPorts = { readonly services: ServiceSlot; readonly memory: Pick<Memory, "search" | "read"> };

/** What file tools share with whoever takes their changes back. */
export type FilePorts = Pick<FileToolDeps, "lanes" | "keeper">;

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
  files: FilePorts = { lanes: createLanes() },
  ports: CatalogPorts = { memory: {} as Memory, services: createServiceSlot() },
): Catalog {
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
      ...ports,
    }),
    plugins: [],
    settings,
    workspaceOf: (config, agent) => workspaceOf(config, agent, paths),
    sandboxPaths: (subject) => commands.sandboxes.pathsOf(subject),
  });
}

/** Without a store or a lock: for looking, never for calling. */
export function createReadingCatalog(paths: Paths, env: Env, loaded: LoadedConfig): Catalog {
  // The factories only keep what they get; nothing of it is used until a tool runs, and none runs from here.
  return openCatalog(paths, {} as Store, createSettings(paths, env, loaded).now, {} as CatalogExec);
}
