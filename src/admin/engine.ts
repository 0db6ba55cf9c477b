// The implementation of the admin service: restarts, config for agents and people, overrides, updates.
import { systemClock } from "../base/clock.ts";
import { packageRoot } from "../base/version.ts";
import { changeKey, effectText, readingsOf } from "../config/change.ts";
import { ToolError } from "../core/error.ts";
import { trustOf } from "../session/provenance.ts";
import { deliverRestartNotes } from "../session/restart-notes.ts";
import type { Admin, AdminAnswer, AdminCaller, UpdateRequest } from "../tool/admin.ts";
import { AgentChanges } from "./agent-changes.ts";
import type { AdminDeps } from "./deps.ts";
import { createOverrides } from "./overrides.ts";
import { showConfig, showSchema } from "./read-config.ts";
import type { Restarts } from "./restarts.ts";

export interface AdminEngine extends Admin {
  /** To be registered with the broker. */
  readonly approvals: AgentChanges["approvals"];
  deliverNotes(): Promise<void>;
}

export function createAdminEngine(deps: AdminDeps, restarts: Restarts): AdminEngine {
  const { settings, paths, mask, log } = deps;
  const changes = new AgentChanges(deps, restarts);
  return {
    async restart({ delayMs, reason = "requested", note, person = false }, caller) {
      requireRestartAllowed(deps);
      if (!person) await requireOwnerTurn(deps, caller);
      if (!person) await restarts.requireCalm();
      const message = note ?? reason;
      const restart = await restarts.ask({ kind: "restart", mode: "restart", delayMs, message, caller, log: reason });
      return {
        text: `The gateway restarts in ${restart.delayMs} ms. A note in this session confirms when it is back.`,
        details: { ok: true, restart },
      };
    },
    configGet: async (path) => showConfig(settings.read(), path),
    configSchema: async (path) => showSchema(deps.version, path),
    change: (ask, caller) => changes.ask(ask, caller),
    update: (ask, caller) => update(deps, restarts, ask, caller),
    async edit(path, edit) {
      const change = changeKey(deps, path, "text" in edit ? { values: readingsOf(edit.text) } : edit);
      const done = "remove" in edit ? `${change.path} removed` : `${change.path} set`;
      return {
        text: change.changed ? `${done}. ${effectText[change.effect]}` : `${change.path} already has that value.`,
        details: { path: change.path, changed: change.changed, hash: change.after.hash },
      };
    },
    overrides: createOverrides(deps),
    approvals: changes.approvals,
    async deliverNotes() {
      const notes = await deliverRestartNotes(paths.state, (session, text) => deps.wake().notify(session, mask(text)));
      restarts.deliveredAtStart(notes);
      for (const { kind, status, ts } of notes)
        log.info(`restarted for ${kind} (${status}), requested ${new Date(ts).toISOString()}`, {
          afterMs: systemClock.now() - ts,
        });
    },
  };
}

async function update(
  deps: AdminDeps,
  restarts: Restarts,
  ask: UpdateRequest,
  caller: AdminCaller,
): Promise<AdminAnswer> {
  const { runUpdate, updateText } = await import("./update.ts");
  const { timeoutMs, signal, person = false } = ask;
  const permit = async (): Promise<void> => {
    if (person) return;
    // `commands.restart` is about explicit restarts; an update includes the permission for its own.
    await requireOwnerTurn(deps, caller);
    await restarts.requireCalm();
  };
  const report = await runUpdate({ root: packageRoot(), env: deps.env, mask: deps.mask, timeoutMs, signal, permit });
  const text = updateText(report);
  if (report.status !== "ok") return { text, details: { ...report } };
  const restart = await restarts.ask({
    kind: "update",
    mode: "update.run",
    delayMs: ask.delayMs,
    message: [ask.note, text].filter((part) => part !== undefined).join("\n"),
    caller,
    log: "update.run",
    fresh: true,
    stats: { steps: report.steps.map(({ name, ok, durationMs }) => ({ name, ok, durationMs })) },
  });
  return { text: `${text}\nThe gateway restarts in ${restart.delayMs} ms.`, details: { ...report, restart } };
}

async function requireOwnerTurn(deps: AdminDeps, { turn }: AdminCaller): Promise<void> {
  if (turn === undefined || (await trustOf(deps.store, turn)) === "owner") return;
  throw new ToolError(
    "gateway.owner-only",
    "not restarted: only the owner can ask for a restart, and this turn contains input from other sources",
    { hint: "openclaw gateway restart", details: { refused: true } },
  );
}

function requireRestartAllowed({ settings }: AdminDeps): void {
  if (settings.now().config.commands?.restart === true) return;
  throw new ToolError("gateway.restart-off", "not restarted: commands.restart is not true in the config", {
    hint: "only the owner can allow it, with: openclaw config set commands.restart true; an agent can ask for it with config.patch {commands:{restart:true}} and wait for the answer",
    details: { refused: true },
  });
}
