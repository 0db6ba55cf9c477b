// Opens what every entrance needs, in order: lock, store, tools. Closes in reverse.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { SessionKey } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { acquireLock, stateLockOf, type Lock } from "../base/lock.ts";
import { openLog, type LogOptions, type LogSink } from "../base/log.ts";
import { createMask, type Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import type { LoadedConfig } from "../config/load.ts";
import { redactionPatterns } from "../config/patterns.ts";
import { secretsIn } from "../config/redact.ts";
import type { Config } from "../config/schema/index.ts";
import { insideNames } from "../exec/inside-names.ts";
import { openStore } from "../store/builtin.ts";
import { storeFileOf } from "../store/store-files.ts";
import { lookForStore } from "../store/store-record.ts";
import type { Store } from "../store/store.ts";
import { createCallTool, createRecallTool, type CallTool, type RecallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { Subject } from "../tool/subject.ts";
import { openCatalog } from "./catalog.ts";
import { openExec, type OpenExec } from "./exec.ts";
import { createServiceSlot, type ServiceSlot } from "../tool/gateway-services.ts";
import { openMemoryOver, type OpenMemory } from "./memory.ts";
import { openUndo, type OpenUndo } from "./undo.ts";
import { createSettings, type LiveSettings } from "../config/live-settings.ts";
import { openStoreChecks, type StoreChecks } from "../store/background-check.ts";

export interface Runtime {
  readonly services: ServiceSlot;
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
  readonly memory: OpenMemory;
  readonly catalog: Catalog;
  readonly callTool: CallTool;
  readonly recallTool: RecallTool;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  readonly consoleLevel: LogOptions["consoleLevel"];
}

export async function openRuntime({ paths, env, loaded, consoleLevel }: RuntimeOptions): Promise<Runtime> {
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  const mask = createMask(secretsIn(loaded.config, loaded.env), redactionPatterns(loaded.config));
  const log = openLog(logOptions(paths, loaded.config, consoleLevel, mask));
  const lock = acquireLock(stateLockOf(paths.state));
  const storeFile = storeFileOf(paths.state);
  const before = lookForStore(storeFile);
  const store = await openStore({
    file: storeFile,
    onTorn: ({ bytes, kept }) =>
      log.warn(
        `the last process was cut off while it wrote; ${bytes} bytes it never acknowledged ${kept === undefined ? "could not be kept" : `are in ${kept}`}`,
      ),
    onMigrated: ({ from, to, kept }) =>
      log.info(`the store was migrated from version ${from} to ${to}; the store of before is kept as ${kept}`, {
        hint: "delete that file when this version works for you, or go back to it with: openclaw store restore",
      }),
    onDamage: (damage) => log.error("damaged record in the store", { damage }),
  }).catch((error: unknown) => {
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
  const services = createServiceSlot();
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
  const memory = openMemoryOver({ paths, env, store, log, config });
  const undo = openUndo({ paths, store, mask, log, config, catalog: () => catalog });
  const catalog: Catalog = openCatalog(paths, store, settings.now, commands, undo.ports, {
    memory,
    services,
  });
  const calls = {
    catalog,
    journal: store.journal,
    mask,
    log: log.child("tools"),
    clock: systemClock,
    config,
    async requireSandbox(subject: Subject) {
      await commands.sandboxes.of(subject);
    },
    insideNames: (subject: Subject) => insideNames(commands.sandboxes.pathsOf(subject), [paths.state, paths.home]),
    sessionId: async (key: SessionKey) => (await store.sessions.get(key))?.sessionId,
  };
  const callTool = createCallTool(calls);
  const recallTool = createRecallTool(calls);
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
    catalog,
    callTool,
    recallTool,
    async close() {
      storeChecks.close();
      await memory.close();
      await commands.close();
      await store.close();
      lock.release();
      log.close();
    },
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
