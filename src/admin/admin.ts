// Administers the gateway from inside: restarts, config changes, overrides, updates. The engine loads with its first use.
import { forwardTo, lazy } from "../base/lazy.ts";
import { hasRestartNotes } from "../session/restart-notes.ts";
import type { Admin } from "../tool/admin.ts";
import type { AdminDeps } from "./deps.ts";
import type { AdminEngine } from "./engine.ts";
import { createRestarts, type Restarts } from "./restarts.ts";

export interface OpenAdmin {
  readonly admin: Admin;
  readonly restarts: Restarts;
  /** Notifies sessions about the restart they asked for. Runs before the approvals are recovered. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

export function openAdmin(deps: AdminDeps): OpenAdmin {
  const { broker, log, paths } = deps;
  const restarts = createRestarts(deps);
  let loaded: AdminEngine | undefined;
  const { get: engine } = lazy(async () => {
    const { createAdminEngine } = await import("./engine.ts");
    loaded = createAdminEngine(deps, restarts);
    return loaded;
  });
  const unregister = broker.register("config", async () => (await engine()).approvals);
  return {
    restarts,
    admin: {
      ...forwardTo(engine, "restart", "configGet", "configSchema", "change", "update", "edit"),
      overrides: {
        list: () => loaded?.overrides.list() ?? [],
        ...forwardTo(async () => (await engine()).overrides, "set", "unset", "reset"),
      },
    },
    async recover() {
      if (!hasRestartNotes(paths.state)) return;
      // A note that cannot be delivered (a full disk) stays for the next start and must not keep this one from starting.
      await (
        await engine()
      )
        .deliverNotes()
        .catch((error: unknown) => log.error("could not notify sessions about the restart they asked for", { error }));
    },
    close: unregister,
  };
}
