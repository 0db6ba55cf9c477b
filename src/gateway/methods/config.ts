// Reading the config with secrets hidden, and changing it with a base hash, validation and a restart.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/config.ts";
import { leaveNote, type RestartNote } from "../../session/restart-notes.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { preparedFor, serve, type Served } from "../dispatch.ts";

const DEFAULT_DELAY_MS = 2000;

export function configMethods(context: GatewayContext): Served[] {
  return [
    serve(methods.configGet, () => snapshot(context)),
    serve(
      methods.configSchema,
      preparedFor(context.config, async () => schemaAnswer(context)),
    ),
    serve(methods.configSet, ({ raw, baseHash }) => replace(context, raw, baseHash)),
    serve(methods.configApply, async ({ raw, baseHash, restartDelayMs, ...wanted }) => {
      const told = toldOf(context, wanted);
      const written = await replace(context, raw, baseHash);
      return { ...written, ...announceRestart(context, "config.apply", restartDelayMs, told) };
    }),
    serve(methods.configPatch, async ({ raw, baseHash, restartDelayMs, ...wanted }) => {
      const told = toldOf(context, wanted);
      const written = await patch(context, raw, baseHash);
      return { ...written, ...announceRestart(context, "config.patch", restartDelayMs, told) };
    }),
  ];
}

async function schemaAnswer({ version, clock }: GatewayContext): Promise<unknown> {
  const { configJsonSchema, uiHints } = await import("../../config/json-schema.ts");
  return { schema: configJsonSchema(), uiHints: uiHints(), version, generatedAt: new Date(clock.now()).toISOString() };
}

async function snapshot({ readConfig }: GatewayContext): Promise<unknown> {
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
): Promise<Record<string, unknown>> {
  requireHash(context, baseHash);
  const { savedText } = await import("../../config/save.ts");
  const { writeConfig } = await import("../../config/write.ts");
  const nextText = savedText(context.readConfig(), raw);
  writeConfig({ paths: context.paths, env: context.env, nextText, ...(baseHash === undefined ? {} : { baseHash }) });
  return written(context);
}

async function patch(
  context: GatewayContext,
  raw: string,
  baseHash: string | undefined,
): Promise<Record<string, unknown>> {
  requireHash(context, baseHash);
  const { patchText, writeConfig } = await import("../../config/write.ts");
  const current = context.readConfig();
  writeConfig({
    paths: context.paths,
    env: context.env,
    nextText: patchText(current.raw, raw),
    ...(baseHash === undefined ? {} : { baseHash }),
  });
  return written(context);
}

async function written(context: GatewayContext): Promise<Record<string, unknown>> {
  const { shownConfig } = await import("../../config/save.ts");
  const loaded = context.readConfig();
  return { ok: true, path: loaded.path, config: shownConfig(loaded), hash: loaded.hash };
}

/** Published clients match on these two sentences. */
function requireHash(context: GatewayContext, baseHash: string | undefined): void {
  const { exists, hash } = context.readConfig();
  if (!exists) return;
  if (baseHash === undefined)
    throw new OpenClawError("wire.invalid-request", "config base hash required; re-run config.get and retry");
  if (baseHash !== hash)
    throw new OpenClawError("wire.invalid-request", "config changed since last load; re-run config.get and retry");
}

/** Who is told is known before anything is written: a session that cannot be is refused. */
function toldOf(
  context: GatewayContext,
  { note, sessionKey }: { readonly note?: string | undefined; readonly sessionKey?: string | undefined },
): Pick<RestartNote, "message" | "sessionKey"> {
  return {
    ...(note === undefined ? {} : { message: context.mask(note.slice(0, 2000).toWellFormed()) }),
    ...(sessionKey === undefined ? {} : { sessionKey: subjectOf({ sessionKey }, context.config()).session }),
  };
}

/** The note is on disk before the restart: the session is told afterwards, whatever happens in between. */
function announceRestart(
  context: GatewayContext,
  reason: string,
  delayMs = DEFAULT_DELAY_MS,
  told: Pick<RestartNote, "message" | "sessionKey">,
): Record<string, unknown> {
  const payload: RestartNote = {
    kind: "config-apply",
    status: "ok",
    ts: context.clock.now(),
    ...told,
    doctorHint: "openclaw doctor",
    stats: { mode: reason, root: context.paths.config },
  };
  const path = leaveNote(context.paths.state, payload);
  context.restart(reason, delayMs);
  return {
    restart: { ok: true, pid: process.pid, signal: "SIGUSR1", delayMs, reason, mode: "emit" },
    sentinel: { path, payload },
  };
}
