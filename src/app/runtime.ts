// Opens the parts that every entry point needs, in order: lock, store, tools. Closes them in reverse.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../base/clock.ts";
import { acquireLock, stateLockOf, type Lock } from "../base/lock.ts";
import { openLog, type Log, type LogOptions, type LogSink } from "../base/log.ts";
import { createMask, type Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import type { LoadedConfig } from "../config/load.ts";
import { defaultAgentId, workspaceOf } from "../config/agents.ts";
import { redactionPatterns } from "../config/patterns.ts";
import { secretsIn } from "../config/redact.ts";
import type { Config } from "../config/schema/index.ts";
import { createExtraction, type Extraction } from "../media/extract/extract.ts";
import { createGuard, type Guard } from "../media/guard/guard.ts";
import { createMediaStore, type MediaStore } from "../media/store.ts";
import { insideNames } from "../exec/inside-names.ts";
import { createModelBook } from "../model/book.ts";
import { createDiscovery, type Discovery } from "../model/discover.ts";
import type { ModelBook } from "../model/model.ts";
import { createLazyMemory, type LazyMemory } from "../memory/lazy-memory.ts";
import { openStore } from "../store/builtin.ts";
import { storeFileOf } from "../store/store-files.ts";
import { lookForStore } from "../store/store-record.ts";
import type { Store } from "../store/store.ts";
import { createCallTool, createRecallTool, type CallDeps, type CallTool, type RecallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import { createMcpClient } from "../mcp/client/client.ts";
import { pendingChanges, type PendingChange } from "../mcp/client/pending-changes.ts";
import { openBrowser, type OpenBrowser } from "./browser.ts";
import { openCatalog, type PluginToolSets } from "./catalog.ts";
import { openExec, type OpenExec } from "./exec.ts";
import { createLateServices, type LateServices } from "../tool/gateway-services.ts";
import { openUndo, type OpenUndo } from "./undo.ts";
import { createSettings, type LiveSettings } from "../config/live-settings.ts";
import { openStoreChecks, type StoreChecks } from "../store/background-check.ts";

export interface Runtime extends OpenBrowser {
  readonly services: LateServices;
  readonly paths: Paths;
  readonly env: Env;
  readonly version: string;
  readonly log: LogSink;
  readonly mask: Mask;
  readonly lock: Lock;
  readonly store: Store;
  readonly storeFile: string;
  readonly storeChecks: StoreChecks;
  readonly settings: LiveSettings;
  readonly commands: OpenExec;
  readonly undo: OpenUndo;
  readonly memory: LazyMemory;
  readonly models: ModelBook;
  readonly discovery: Discovery;
  readonly guard: Guard;
  readonly extraction: Extraction;
  readonly media: MediaStore;
  readonly catalog: Catalog;
  /** One for each MCP server whose tools changed since they were approved. */
  readonly mcpCautions: () => readonly PendingChange[];
  readonly callTool: CallTool;
  readonly recallTool: RecallTool;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  readonly consoleLevel: LogOptions["consoleLevel"];
  /** Tools beside the built-in ones, by the id that policy knows them under. */
  readonly pluginTools?: PluginToolSets;
}

export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { paths, env, loaded, consoleLevel } = options;
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  const mask = createMask(secretsIn(loaded.config, loaded.env), redactionPatterns(loaded.config));
  const log = openLog(logOptions(paths, loaded.config, consoleLevel, mask));
  const lock = acquireLock(stateLockOf(paths.state));
  const storeFile = storeFileOf(paths.state);
  const before = lookForStore(storeFile);
  const store = await openReportedStore(storeFile, log).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const settings = createSettings(paths, env, loaded);
  const delay = Number(env["OPENCLAW_STORE_CHECK_MS"]);
  const storeChecks = openStoreChecks({
    storeFile,
    clock: systemClock,
    log: log.child("store"),
    before,
    ...(delay > 0 ? { delayMs: delay } : {}),
  });
  const version = readVersion();
  const config = (): Config => settings.now().config;
  const services = createLateServices();
  const commands = openExec({
    paths,
    env,
    store,
    log,
    mask,
    config,
    configFiles: () => settings.loaded().files,
    recallTool: (asker) => recallTool(asker),
  });
  const memory = createLazyMemory({ paths, env, store, log, config });
  const guard = createGuard({ config, env });
  const extraction = createExtraction();
  const media = createMediaStore({ state: paths.state, clock: systemClock, log: log.child("media") });
  const { browser, hostBrowser } = openBrowser({ paths, env, log, mask, settings, guard, media, commands });
  const undo = openUndo({ paths, store, mask, log, config, catalog: () => catalog });
  const discovery = createDiscovery({ env, clock: systemClock });
  const models = createModelBook({ config, env, paths, clock: systemClock, log: log.child("models"), discovery });
  const mcp = createMcpClient({
    paths,
    env,
    version,
    clock: systemClock,
    log: log.child("mcp"),
    mask,
    config,
    guard,
    workspace: () => workspaceOf(config(), defaultAgentId(config()), paths),
    broker: commands.broker,
    askModel: services.askModel,
    models,
  });
  const catalog: Catalog = openCatalog(paths, store, settings.now, commands, models, undo.ports, {
    memory,
    services,
    pluginTools: options.pluginTools,
    mcp,
    guard,
    extraction,
    browser,
    media,
    serviceEnv: () => settings.loaded().env,
  });
  const calls = toolCallDeps({ catalog, store, mask, log, commands, paths });
  const callTool = createCallTool(calls);
  const recallTool = createRecallTool({ ...calls, config });
  return {
    services,
    paths,
    env,
    version,
    log,
    mask,
    lock,
    store,
    storeFile,
    storeChecks,
    settings,
    commands,
    undo,
    memory,
    models,
    discovery,
    guard,
    extraction,
    media,
    browser,
    hostBrowser,
    catalog,
    mcpCautions: () => pendingChanges(config(), mcp.pins),
    callTool,
    recallTool,
    async close() {
      storeChecks.close();
      await mcp.close();
      await browser.close();
      media.close();
      await extraction.close();
      await memory.close();
      await commands.close();
      await store.close();
      lock.release();
      log.close();
    },
  };
}

/** Opens the store and logs what it had to repair. */
function openReportedStore(file: string, log: Log): Promise<Store> {
  return openStore({
    file,
    onTorn: ({ bytes, kept }) =>
      log.warn(
        `the last process was interrupted during a write; ${bytes} unacknowledged bytes ${kept === undefined ? "could not be saved" : `are in ${kept}`}`,
      ),
    onMigrated: ({ from, to, kept }) =>
      log.info(`the store was migrated from version ${from} to ${to}; the old store is kept as ${kept}`, {
        hint: "delete that file when this version works for you, or restore it with: openclaw store restore",
      }),
    onDamage: (damage) => log.error("damaged record in the store", { damage }),
  });
}

function toolCallDeps(runtime: Pick<Runtime, "catalog" | "store" | "mask" | "log" | "commands" | "paths">): CallDeps {
  const { catalog, store, mask, log, commands, paths } = runtime;
  return {
    catalog,
    journal: store.journal,
    mask,
    log: log.child("tools"),
    clock: systemClock,
    async requireSandbox(subject) {
      await commands.sandboxes.of(subject);
    },
    insideNames: (subject) => insideNames(commands.sandboxes.pathsOf(subject), [paths.state, paths.home]),
    sessionId: async (key) => (await store.sessions.get(key))?.sessionId,
  };
}

function logOptions(paths: Paths, config: Config, consoleLevel: LogOptions["consoleLevel"], mask: Mask): LogOptions {
  const { file, level = "info", consoleStyle = "pretty" } = config.logging ?? {};
  return {
    ...(file === undefined ? { folder: join(paths.state, "logs") } : { file }),
    level: level as LogOptions["level"],
    consoleLevel,
    consoleStyle: consoleStyle as LogOptions["consoleStyle"],
    mask,
  };
}
