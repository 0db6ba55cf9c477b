// session_status: where this session stands, what time it is, and the model override set or cleared.
import { ToolError } from "../../core/error.ts";
import { nearest } from "../../core/nearest.ts";
import { Type } from "../../core/schema.ts";
import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/schema/index.ts";
import { entryOf, newSession, patchSession } from "../../session/session.ts";
import { mayChange } from "../../session/visibility.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import { defineTool, type ToolCall } from "../tool.ts";
import { visibleSession } from "./history.ts";

export const createSessionStatus = (deps: {
  readonly store: Pick<Store, "sessions">;
  readonly clock: Clock;
  readonly version: string;
}) =>
  defineTool({
    name: "session_status",
    summary: "Show this session's state and the current time; set its model",
    description:
      'Show a session\'s model, tokens and levels and the current time. model sets an override, "default" clears it.',
    params: Type.Object(
      {
        sessionKey: Type.Optional(Type.String({ minLength: 1, description: "default: this session" })),
        model: Type.Optional(Type.String({ minLength: 1, description: "provider/model, or default" })),
      },
      { additionalProperties: false },
    ),
    prepare: ({ sessionId, ...rest }) => (sessionId === undefined ? rest : { sessionKey: sessionId, ...rest }),
    intent: ({ model }) =>
      model === undefined ? { does: "look" } : { does: "admin", what: `set the session's model to ${model}` },
    async run(args, call) {
      const record = await targetOf(args.sessionKey, call, deps);
      const changed = args.model !== undefined;
      const current = args.model === undefined ? record : await setModel(record, args.model, call, deps);
      const statusText = describe(current, call, deps);
      return {
        content: [{ type: "text", text: statusText }],
        details: { ok: true, sessionKey: current.key, changedModel: changed, statusText },
      };
    },
  });

async function targetOf(
  key: string | undefined,
  call: ToolCall,
  deps: { store: Pick<Store, "sessions">; clock: Clock },
): Promise<SessionRecord> {
  if (key !== undefined) return visibleSession(deps.store, key, call);
  return (await deps.store.sessions.get(call.session)) ?? newSession(call.session, deps.clock.now());
}

async function setModel(
  record: SessionRecord,
  model: string,
  call: ToolCall,
  deps: { store: Pick<Store, "sessions">; clock: Clock },
): Promise<SessionRecord> {
  if (!mayChange(call, record, call.config)) {
    throw new ToolError("session.not-yours", `${call.session} may not change session ${record.key}`, {
      hint: "change your own session only",
    });
  }
  if (model === "default")
    return patchSession(deps.store.sessions, record.key, deps.clock.now(), {
      providerOverride: null,
      modelOverride: null,
    });
  const [provider, name] = resolveModel(model, call.config);
  return patchSession(deps.store.sessions, record.key, deps.clock.now(), {
    providerOverride: provider,
    modelOverride: name,
  });
}

/** `agents.defaults.models` is both the list of allowed models and where aliases live. */
function resolveModel(raw: string, config: Config): [provider: string, model: string] {
  const listed = config.agents?.defaults?.models ?? {};
  const byAlias = Object.entries(listed).find(([, entry]) => entry.alias?.toLowerCase() === raw.toLowerCase())?.[0];
  const reference = byAlias ?? raw;
  const slash = reference.indexOf("/");
  if (slash <= 0 || slash === reference.length - 1) {
    throw new ToolError("model.bad-reference", `not a model reference: ${raw}`, {
      hint: "write provider/model, for example openai/gpt-5.2",
    });
  }
  const allowed = Object.keys(listed);
  if (allowed.length > 0 && !allowed.some((entry) => entry.toLowerCase() === reference.toLowerCase())) {
    const near = nearest(reference, allowed);
    throw new ToolError(
      "model.not-allowed",
      `Model "${reference}" is not allowed. Use /model to list available models.`,
      {
        hint: near === undefined ? "add it under agents.defaults.models" : `did you mean ${near}?`,
      },
    );
  }
  return [reference.slice(0, slash), reference.slice(slash + 1)];
}

function describe(record: SessionRecord, call: ToolCall, deps: { clock: Clock; version: string }): string {
  const entry = entryOf(record);
  const override =
    entry.modelOverride === undefined ? undefined : `${entry.providerOverride ?? ""}/${entry.modelOverride}`;
  const used = entry.totalTokens ?? 0;
  const lines = [
    `OpenClaw ${deps.version}`,
    `Time: ${timeLine(deps.clock.now(), call.config)}`,
    `Session: ${record.key} (updated ${new Date(record.updatedAt).toISOString()})`,
    `Model: ${override ?? defaultModel(call.config) ?? "none configured"}${override === undefined ? "" : " (set for this session)"}`,
    `Tokens: ${used} used${entry.contextTokens === undefined ? "" : ` of ${entry.contextTokens}`}, ${entry.compactionCount ?? 0} compactions`,
    `Runs: ${call.sandboxed ? "sandboxed" : "on this host"}, workspace ${call.workspace}`,
    `Levels: thinking ${entry.thinkingLevel ?? "default"}, verbose ${entry.verboseLevel ?? "off"}, reasoning ${entry.reasoningLevel ?? "off"}, elevated ${entry.elevatedLevel ?? "default"}`,
  ];
  return lines.join("\n");
}

function defaultModel(config: Config): string | undefined {
  const model = config.agents?.defaults?.model;
  return typeof model === "string" ? model : model?.primary;
}

function timeLine(now: number, config: Config): string {
  const timeZone = config.agents?.defaults?.userTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone }).format(now);
  return `${local} (${timeZone}), ${new Date(now).toISOString()}`;
}
