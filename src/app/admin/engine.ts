// What stands behind the admin port: restarts, config for agents and people, overrides, updates.
import { ToolError } from "../../core/error.ts";
import { systemClock } from "../../base/clock.ts";
import { packageRoot } from "../../base/version.ts";
import type { Approval } from "../../approval/record.ts";
import { tellNotes } from "../../session/restart-notes.ts";
import type { Admin, AdminCaller } from "../../tool/admin.ts";
import type { Restart } from "../admin.ts";
import type { Runtime } from "../runtime.ts";
import { trustOf } from "../../session/provenance.ts";
import { createChanges } from "./change.ts";
import { editKey } from "./edit-key.ts";
import { showConfig, showSchema } from "./read-config.ts";
import { createOverrides } from "./overrides.ts";
import { createRestarts } from "./restarts.ts";

export interface AdminEngine extends Admin {
  /** What came of a change that was asked for. */
  answered(what: "resolved" | "lapsed" | "interrupted", approval: Approval): Promise<void>;
  tellNotes(): Promise<void>;
}

/** `startedTicks`: when the gateway began, by the clock that only goes forward. */
export function createAdminEngine(runtime: Runtime, restart: Restart, startedTicks: number): AdminEngine {
  const { settings, paths, env, mask } = runtime;
  const restarts = createRestarts(runtime, restart, startedTicks);
  const changes = createChanges(runtime, restarts);
  return {
    async restart({ delayMs, reason = "asked for", note, person = false }, caller) {
      requireRestartAllowed(runtime);
      if (!person) await requireOwnersTurn(runtime, caller);
      if (!person) await restarts.requireCalm();
      const message = note ?? reason;
      const told = await restarts.ask({ kind: "restart", mode: "restart", delayMs, message, caller, log: reason });
      return {
        text: `The gateway restarts in ${told.delayMs} ms. You are told when it is back.`,
        details: { ok: true, restart: told },
      };
    },
    configGet: async (path) => showConfig(settings.read(), path),
    configSchema: async (path) => showSchema(runtime.version, path),
    change: (ask, caller) => changes.ask(ask, caller),
    async update(ask, caller) {
      const { runUpdate, updateText } = await import("./update.ts");
      const { timeoutMs, signal, person = false } = ask;
      const permit = async (): Promise<void> => {
        if (person) return;
        // `commands.restart` is about restarts that somebody asks for as such; this one carries its own leave.
        await requireOwnersTurn(runtime, caller);
        await restarts.requireCalm();
      };
      const report = await runUpdate({ root: packageRoot(), env, mask, timeoutMs, signal, permit });
      const text = updateText(report);
      if (report.status !== "ok") return { text, details: { ...report } };
      const told = await restarts.ask({
        kind: "update",
        mode: "update.run",
        delayMs: ask.delayMs,
        message: [ask.note, text].filter((words) => words !== undefined).join("\n"),
        caller,
        log: "update.run",
        fresh: true,
        stats: { steps: report.steps.map(({ name, ok, durationMs }) => ({ name, ok, durationMs })) },
      });
      return { text: `${text}\nThe gateway restarts in ${told.delayMs} ms.`, details: { ...report, restart: told } };
    },
    edit: async (path, wish) => editKey({ paths, env, settings }, path, wish),
    overrides: createOverrides({ paths, env, settings, mask }),
    answered: (what, approval) => changes.answered(what, approval),
    async tellNotes() {
      const notes = await tellNotes(paths.state, (session, text) => runtime.wake().tell(session, mask(text)));
      restarts.toldAtStart(notes);
      for (const { kind, status, ts } of notes)
        runtime.log.info(`restarted for ${kind} (${status}), asked ${new Date(ts).toISOString()}`, {
          afterMs: systemClock.now() - ts,
        });
    },
  };
}

async function requireOwnersTurn(runtime: Runtime, { turn }: AdminCaller): Promise<void> {
  if (turn === undefined || (await trustOf(runtime.store, turn)) === "owner") return;
  throw new ToolError(
    "gateway.owner-only",
    "the gateway is restarted only when the owner asks for it, and this turn has other words in it",
    { hint: "openclaw gateway restart", details: { refused: true } },
  );
}

function requireRestartAllowed({ settings }: Runtime): void {
  if (settings.now().config.commands?.restart === true) return;
  throw new ToolError("gateway.restart-off", "restarting from here is off: commands.restart is not true", {
    hint: "openclaw config set commands.restart true",
    details: { refused: true },
  });
}
