// The hooks that ship with OpenClaw; off until a person enables them.
import type { Log } from "../../../base/log.ts";
import type { Mask } from "../../../base/mask.ts";
import type { Paths } from "../../../base/paths.ts";
import type { Config } from "../../../config/schema/index.ts";
import type { Turns } from "../../../session/turns.ts";
import type { Store } from "../../../store/store.ts";
import type { HookCard, HookEvent } from "../hook.ts";

export interface BundledHook {
  readonly card: HookCard;
  run(event: HookEvent): Promise<void>;
}

export interface BundledPorts {
  readonly config: () => Config;
  readonly paths: Paths;
  readonly store: Pick<Store, "transcript" | "sessions">;
  readonly turns: () => Turns;
  readonly mask: Mask;
  readonly log: Log;
}
