// For scripts and tests: the texts of the built-in tools (names, summaries, descriptions, parameters). The tools cannot run.
import { systemClock } from "../src/base/clock.ts";
import { createLanes } from "../src/base/lane.ts";
import type { Exec } from "../src/exec/exec.ts";
import type { ProcessTable } from "../src/exec/processes.ts";
import type { BrowserControl } from "../src/browser/control.ts";
import type { Extraction } from "../src/media/extract/extract.ts";
import type { Guard } from "../src/media/guard/guard.ts";
import type { MediaStore } from "../src/media/store.ts";
import type { Memory } from "../src/memory/memory.ts";
import type { ModelBook } from "../src/model/model.ts";
import type { Store } from "../src/store/store.ts";
import { builtinTools } from "../src/tool/builtin.ts";
import { createLateServices } from "../src/tool/gateway-services.ts";
import type { Tool } from "../src/tool/tool.ts";

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
