// The gateway looking after itself: a small front that answers for the engine, which loads when somebody needs it.
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Approval } from "../approval/record.ts";
import { hasNotes } from "../session/restart-notes.ts";
import type { Admin } from "../tool/admin.ts";
import type { AdminEngine } from "./admin/engine.ts";
import { isCronAsk } from "./cron.ts";
import type { Runtime } from "./runtime.ts";

/** Ends this run and starts the next; `fresh` in a new process image, for code that changed on disk. */
export type Restart = (reason: string, delayMs: number, options?: { readonly fresh?: boolean }) => void;

export interface OpenAdmin {
  /** Tells sessions about the restart they waited for. Before the approvals are recovered. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

export function openAdmin(runtime: Runtime, restart: Restart): OpenAdmin {
  const { broker } = runtime.commands;
  const log = runtime.log.child("admin");
  const startedTicks = systemClock.ticks();
  const underWay = new Set<Promise<void>>();
  let open: AdminEngine | undefined;
  const { get: engine } = lazy(async () => {
    const { createAdminEngine } = await import("./admin/engine.ts");
    open = createAdminEngine(runtime, restart, startedTicks);
    return open;
  });
  const follow = (what: "resolved" | "lapsed" | "interrupted") => (approval: Approval) => {
    if (approval.kind !== "config" || approval.origin !== "house" || isCronAsk(approval)) return;
    const work = engine()
      .then((ready) => ready.answered(what, approval))
      .catch((error: unknown) =>
        log.error("an answered config change could not be followed", { id: approval.id, error }),
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
  };
  const unwatch = broker.watch({
    resolved: follow("resolved"),
    lapsed: follow("lapsed"),
    interrupted: follow("interrupted"),
  });
  runtime.admin.provide(behind(engine, () => open));
  return {
    async recover() {
      if (!hasNotes(runtime.paths.state)) return;
      // A note that cannot be read or told (a full disk) stays for the next start; it is no reason not to start.
      await (
        await engine()
      )
        .tellNotes()
        .catch((error: unknown) =>
          log.error("sessions could not be told about the restart they waited for", { error }),
        );
    },
    async close() {
      unwatch();
      await Promise.all(underWay);
    },
  };
}

function behind(engine: () => Promise<AdminEngine>, open: () => AdminEngine | undefined): Admin {
  return {
    restart: async (ask, caller) => (await engine()).restart(ask, caller),
    configGet: async (path) => (await engine()).configGet(path),
    configSchema: async (path) => (await engine()).configSchema(path),
    change: async (ask, caller) => (await engine()).change(ask, caller),
    update: async (ask, caller) => (await engine()).update(ask, caller),
    edit: async (path, wish) => (await engine()).edit(path, wish),
    overrides: {
      list: () => open()?.overrides.list() ?? [],
      set: async (path, text) => (await engine()).overrides.set(path, text),
      unset: async (path) => (await engine()).overrides.unset(path),
      reset: async () => (await engine()).overrides.reset(),
    },
  };
}
