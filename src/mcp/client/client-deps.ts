// What the client of MCP servers uses of the gateway.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Mask } from "../../base/mask.ts";
import type { Env, Paths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ApprovalBroker } from "../../approval/broker.ts";
import type { Guard } from "../../media/guard/guard.ts";
import type { AskModel } from "../../model/ask.ts";
import type { ModelBook } from "../../model/model.ts";

export interface McpClientDeps {
  readonly paths: Paths;
  readonly env: Env;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: Mask;
  readonly config: () => Config;
  readonly guard: Guard;
  /** The workspace of the default agent. */
  readonly workspace: () => string;
  readonly broker?: ApprovalBroker;
  readonly askModel?: () => AskModel;
  readonly models?: Pick<ModelBook, "candidates">;
}
