// Every built-in tool; the only file that names them.
import type { Env } from "../base/paths.ts";
import type { Clock } from "../base/clock.ts";
import type { Mask } from "../base/mask.ts";
import type { BrowserControl } from "../browser/control.ts";
import type { Exec } from "../exec/exec.ts";
import type { ProcessTable } from "../exec/processes.ts";
import type { Extraction } from "../media/extract/extract.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import type { Memory } from "../memory/memory.ts";
import type { ModelBook } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { createCronTool } from "./automation/cron.ts";
import { createGatewayTool } from "./automation/gateway.ts";
import type { FileToolDeps } from "./fs/access.ts";
import { createApplyPatchTool } from "./fs/apply-patch.ts";
import { createEditTool } from "./fs/edit.ts";
import { createReadTool } from "./fs/read.ts";
import { createWorkspaceFiles } from "./fs/read-whole.ts";
import { createWriteTool } from "./fs/write.ts";
import { createMemoryGet } from "./memory/get.ts";
import { createMemorySearch } from "./memory/search.ts";
import { agentsList } from "./plain/agents-list.ts";
import { createImageTool } from "./plain/image.ts";
import { createSessionsHistory } from "./sessions/history.ts";
import { createSessionsList } from "./sessions/list.ts";
import { createSessionsSend } from "./sessions/send.ts";
import { createSessionsSpawn } from "./sessions/spawn.ts";
import { createSessionStatus } from "./sessions/status.ts";
import { createExecTool } from "./runtime/exec.ts";
import { createProcessTool } from "./runtime/process.ts";
import { createBrowserTool } from "./ui/browser.ts";
import { createWebFetch } from "./web/fetch.ts";
import { createWebSearch } from "./web/search.ts";
import type { TrustChecks } from "./trust.ts";
import type { LateServices } from "./gateway-services.ts";
import type { Tool } from "./tool.ts";

export { recoverFiles, withFiles } from "./fs/access.ts";
export type { FileToolDeps } from "./fs/access.ts";

export interface BuiltinDeps extends FileToolDeps, TrustChecks {
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
  readonly exec: Exec;
  readonly processes: ProcessTable;
  readonly mask?: Mask;
  readonly memory: Pick<Memory, "search" | "read">;
  readonly models: Pick<ModelBook, "imageModels" | "list">;
  readonly services: LateServices;
  readonly guard: Guard;
  readonly extraction: Extraction;
  readonly browser: BrowserControl;
  readonly media: MediaStore;
  readonly serviceEnv: () => Env;
}

export function builtinTools(deps: BuiltinDeps): readonly Tool[] {
  const { services } = deps;
  return [
    createReadTool(deps),
    createWriteTool(deps),
    createEditTool(deps),
    createApplyPatchTool(deps),
    createExecTool(deps.exec),
    createProcessTool(deps),
    createSessionsList(deps),
    createSessionsHistory(deps),
    createSessionsSend({ ...deps, sessionMessages: services.sessionMessages }),
    createSessionsSpawn({ ...deps, children: services.children }),
    createSessionStatus({ ...deps, liveStatus: () => services.bound().liveStatus }),
    agentsList,
    createImageTool({
      models: deps.models,
      files: createWorkspaceFiles(deps),
      askModel: services.askModel,
      guard: deps.guard,
    }),
    createMemorySearch(deps.memory),
    createMemoryGet(deps.memory),
    createWebSearch(deps),
    createWebFetch(deps),
    createBrowserTool(deps),
    createCronTool(services.cron),
    createGatewayTool(services.admin),
  ];
}
