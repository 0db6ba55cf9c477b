// Opens what every entrance needs, in order: lock, store, tools. Closes in reverse.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../base/clock.ts";
import { acquireLock, stateLockOf, type Lock } from "../base/lock.ts";
import { openLog, type LogOptions, type LogSink } from "../base/log.ts";
import { createMask, type Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { readVersion } from "../base/version.ts";
import type { LoadedConfig } from "../config/load.ts";
import { redactionPatterns } from "../config/patterns.ts";
import { secretsOf } from "../config/redact.ts";
import type { Config } from "../config/schema/index.ts";
import type { CronDoor } from "../cron/ask.ts";
import type { Children } from "../session/children.ts";
import type { Standing } from "../session/standing.ts";
import type { Talks } from "../session/talks.ts";
import type { Turns } from "../session/turns.ts";
import type { Wake } from "../session/wake.ts";
import { openStore } from "../store/builtin.ts";
import { storeFileOf } from "../store/place.ts";
import type { Store } from "../store/store.ts";
import { createCallTool, type CallTool } from "../tool/call.ts";
import type { Admin } from "../tool/admin.ts";
import type { Catalog } from "../tool/catalog.ts";
import { openCatalog } from "./catalog.ts";
import { late, type Late } from "../tool/late.ts";
import { openExec, type OpenExec } from "./exec.ts";
import { openMemoryOver, type OpenMemory } from "./memory.ts";
import { openUndo, type OpenUndo } from "./undo.ts";
import { createSettings, type LiveSettings } from "./settings.ts";

export interface House {
  readonly paths: Paths;
  readonly env: Env;
  readonly version: string;
  readonly log: LogSink;
  readonly mask: Mask;
  readonly lock: Lock;
  readonly store: Store;
  readonly storeFile: string;
  readonly settings: LiveSettings;
  readonly commands: OpenExec;
  /** Tied by who opens the agents; tools and jobs keep the port. */
  readonly turns: Late<Turns>;
  /** Tied with them: telling a session something, and giving it a turn to read it in. */
  readonly wake: Late<Wake>;
  /** Restarting and configuring the gateway from inside. */
  readonly admin: Late<Admin>;
  /** Sub-agents, and messages between sessions: tied with the agents. */
  readonly children: Late<Children>;
  readonly talks: Late<Talks>;
  /** Jobs at set times. */
  readonly cron: Late<CronDoor>;
  readonly standing: Late<Standing>;
  readonly undo: OpenUndo;
  readonly memory: OpenMemory;
  readonly catalog: Catalog;
  readonly callTool: CallTool;
  close(): Promise<void>;
}

export interface HouseOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  readonly consoleLevel: LogOptions["consoleLevel"];
}

export async function openHouse({ paths, env, loaded, consoleLevel }: HouseOptions): Promise<House> {
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  const mask = createMask(secretsIn(loaded.config, env), redactionPatterns(loaded.config));
  const log = openLog(logOptions(paths, loaded.config, consoleLevel, mask));
  const lock = acquireLock(stateLockOf(paths.state));
  const storeFile = storeFileOf(paths.state);
  const store = await openStore({
    file: storeFile,
    onTorn: ({ bytes, kept }) =>
      log.warn(
        `the last process was cut off while it wrote; ${bytes} bytes it never acknowledged ${kept === undefined ? "could not be kept" : `are in ${kept}`}`,
      ),
    onDamage: (damage) => log.error("damaged record in the store", { damage }),
  }).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const settings = createSettings(paths, env, loaded);
  const version = readVersion();
  const config = (): Config => settings.now().config;
  const turns = late<Turns>("work for agents");
  const wake = late<Wake>("waking a session");
  const admin = late<Admin>("gateway");
  const children = late<Children>("sub-agents");
  const talks = late<Talks>("sessions_send");
  const cron = late<CronDoor>("cron");
  const standing = late<Standing>("how sessions stand");
  const commands = openExec({ paths, env, store, log, mask, config });
  const memory = openMemoryOver({ paths, env, store, log, config });
  const undo = openUndo({ paths, store, mask, log, config, catalog: () => catalog });
  const catalog: Catalog = openCatalog(paths, store, settings.now, commands, undo.ports, {
    memory,
    admin,
    children,
    talks,
    cron,
    standing,
  });
  const callTool = createCallTool({
    catalog,
    journal: store.journal,
    mask,
    log: log.child("tools"),
    clock: systemClock,
    async requireBox(subject) {
      await commands.boxes.of(subject);
    },
  });
  return {
    paths,
    env,
    version,
    log,
    mask,
    lock,
    store,
    storeFile,
    settings,
    commands,
    turns,
    wake,
    admin,
    children,
    talks,
    cron,
    standing,
    undo,
    memory,
    catalog,
    callTool,
    async close() {
      await memory.close();
      await commands.close();
      await store.close();
      lock.release();
      log.close();
    },
  };
}

/** Everything that must never be printed: the config's secrets and the credentials of the environment. */
export function secretsIn(config: Config, env: Env): string[] {
  const named = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /(?:_API_KEY|_TOKEN|_SECRET|_PASSWORD)$/.test(name) ? [value] : [],
  );
  return [...secretsOf(config), ...named];
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
