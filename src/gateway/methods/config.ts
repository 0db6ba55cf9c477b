// Reads the config with secrets redacted, and changes it with a base hash, validation and a restart.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/config.ts";
import { refusalTexts } from "../../protocol/refusal.ts";
import type { RestartPlan } from "../../admin/restarts.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { preparedFor, serve, type Served } from "../dispatch.ts";

export function configMethods(context: GatewayContext): Served[] {
  return [
    serve(methods.configGet)(() => snapshot(context)),
    serve(methods.configSchema)(preparedFor(context.config, async () => schemaResult(context))),
    serve(methods.configSet)(({ raw, baseHash }) => replace(context, raw, baseHash)),
    serve(methods.configApply)(async ({ raw, baseHash, restartDelayMs, ...rest }) => {
      const note = noteOf(context, rest);
      const written = await replace(context, raw, baseHash);
      return { ...written, ...restartFor(context, "config.apply", restartDelayMs, note) };
    }),
    serve(methods.configPatch)(async ({ raw, baseHash, restartDelayMs, ...rest }) => {
      const note = noteOf(context, rest);
      const written = await patch(context, raw, baseHash);
      return { ...written, ...restartFor(context, "config.patch", restartDelayMs, note) };
    }),
  ];
}

async function schemaResult({ version, clock }: GatewayContext): Promise<methods.ConfigSchemaResult> {
  const { configJsonSchema, uiHints } = await import("../../config/json-schema.ts");
  return { schema: configJsonSchema(), uiHints: uiHints(), version, generatedAt: new Date(clock.now()).toISOString() };
}

async function snapshot({ readConfig }: GatewayContext): Promise<methods.ConfigSnapshot> {
  const { redactConfig, redactRaw, secretsBeside } = await import("../../config/redact.ts");
  const { shownConfig } = await import("../../config/save.ts");
  const loaded = readConfig();
  const { path, exists, raw, parsed, valid, hash, issues, warnings, legacyIssues } = loaded;
  const known = secretsBeside(parsed, loaded.env);
  return {
    path,
    exists,
    raw: redactRaw(raw, known),
    parsed: redactConfig(parsed, known),
    valid,
    config: shownConfig(loaded),
    hash,
    issues,
    warnings,
    legacyIssues,
  };
}

async function replace(
  context: GatewayContext,
  raw: string,
  baseHash: string | undefined,
): Promise<methods.ConfigWritten> {
  const { savedText } = await import("../../config/save.ts");
  return write(context, baseHash, (current) => savedText(current, raw));
}

async function patch(
  context: GatewayContext,
  raw: string,
  baseHash: string | undefined,
): Promise<methods.ConfigWritten> {
  const { patchText } = await import("../../config/patch.ts");
  return write(context, baseHash, (current) => patchText(current.raw, raw));
}

async function write(
  context: GatewayContext,
  baseHash: string | undefined,
  nextText: (current: LoadedConfig) => string,
): Promise<methods.ConfigWritten> {
  const { changeConfig } = await import("../../config/change.ts");
  const { shownConfig } = await import("../../config/save.ts");
  requireHash(context, baseHash);
  const { after } = changeConfig(context, nextText, { baseHash });
  return { ok: true, path: after.path, config: shownConfig(after), hash: after.hash };
}

/** Published clients match on these two sentences. */
function requireHash(context: GatewayContext, baseHash: string | undefined): void {
  const { exists, hash } = context.readConfig();
  if (!exists) return;
  if (baseHash === undefined)
    throw new OpenClawError("wire.invalid-request", "config base hash required; re-run config.get and retry");
  if (baseHash !== hash) throw new OpenClawError("wire.invalid-request", refusalTexts.stale("config", "config.get"));
}

type Note = Pick<RestartPlan, "message" | "session">;

/** Resolved before anything is written: an unknown session rejects the request. */
function noteOf(
  context: GatewayContext,
  { note, sessionKey }: { readonly note?: string | undefined; readonly sessionKey?: string | undefined },
): Note {
  return {
    message: note,
    session: sessionKey === undefined ? undefined : subjectOf({ sessionKey }, context.config()).session,
  };
}

function restartFor(
  context: GatewayContext,
  mode: string,
  delayMs: number | undefined,
  note: Note,
): methods.AnnouncedRestart {
  const {
    file,
    note: payload,
    delayMs: waitMs,
  } = context.announceRestart({ kind: "config-apply", mode, delayMs, ...note });
  return {
    restart: { ok: true, pid: process.pid, signal: "SIGUSR1", delayMs: waitMs, reason: mode, mode: "emit" },
    sentinel: { path: file, payload },
  };
}
