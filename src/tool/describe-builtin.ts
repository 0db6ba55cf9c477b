// The built-in tools for reading their texts only: names, summaries, descriptions and parameters. They cannot run.
import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Exec } from "../exec/exec.ts";
import type { ProcessTable } from "../exec/processes.ts";
import type { BrowserControl } from "../browser/control.ts";
import type { Extraction } from "../media/extract/extract.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import type { Memory } from "../memory/memory.ts";
import type { ModelBook } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { builtinTools } from "./builtin.ts";
import { createLateServices } from "./gateway-services.ts";
import type { Tool } from "./tool.ts";

/** Factories only store their dependencies, so a description needs no open resources. */
export function describeBuiltinTools(): readonly Tool[] {
  return builtinTools({
    store: {} as Store,
    clock: systemClock,
    version: "",
    stateDir: "/",
    configPath: "/",
    home: "/",
    approvalsPath: "/",
    lanes: createLanes(),
    exec: {} as Exec,
    processes: {} as ProcessTable,
    memory: {} as Memory,
    models: {} as ModelBook,
    services: createLateServices(),
    guard: {} as Guard,
    extraction: {} as Extraction,
    browser: {} as BrowserControl,
    media: {} as MediaStore,
    serviceEnv: () => ({}),
  });
}
