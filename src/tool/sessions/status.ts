// The session_status tool: shows time, model and settings of a session, and changes its model.
import { ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ModelRef } from "../../model/model.ts";
import { queueSettings } from "../../session/queue.ts";
import type { LiveStatus } from "../../session/live-status.ts";
import { entryOf, newSession, patchSession } from "../../session/session.ts";
import { mayChange } from "../../session/visibility.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import type { TrustChecks } from "../trust.ts";
import { subjectOf } from "../subject.ts";
import { defineTool, nonBlank, type ToolCall } from "../tool.ts";
import { visibleSession } from "./history.ts";

export interface StatusDeps extends TrustChecks {
  readonly store: Pick<Store, "sessions">;
  readonly clock: Clock;
  readonly version: string;
  /** Undefined without a running gateway. */
  readonly liveStatus?: () => LiveStatus | undefined;
}

export const createSessionStatus = (deps: StatusDeps) =>
  defineTool({
    name: "session_status",
    summary: "Show the time and session state; change the model",
    description:
      "Show the current date and time and a session's model, token usage and settings. With model it changes the model.",
    params: Type.Object(
      {
        sessionKey: Type.Optional(nonBlank("Key from sessions_list (default: this session).")),
        model: Type.Optional(nonBlank("New model as provider/model; default removes the override.")),
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
      const statusText = await describe(current, call, deps);
      return {
        content: [{ type: "text", text: statusText }],
        details: { ok: true, sessionKey: current.key, changedModel: changed, statusText },
      };
    },
  });

async function targetOf(
  key: string | undefined,
  call: ToolCall,
  deps: Pick<StatusDeps, "store" | "clock" | "isConfinedToChat">,
): Promise<SessionRecord> {
  if (key !== undefined) return visibleSession(deps, key, call);
  return (await deps.store.sessions.get(call.session)) ?? newSession(call.session, deps.clock.now());
}

async function setModel(
  record: SessionRecord,
  model: string,
  call: ToolCall,
  deps: Pick<StatusDeps, "store" | "clock" | "liveStatus">,
): Promise<SessionRecord> {
  if (!mayChange(call, record, call.config)) {
    throw new ToolError("session.not-yours", `${call.session} may not change session ${record.key}`, {
      hint: "leave out sessionKey to change your own session",
    });
  }
  if (model === "default")
    return patchSession(deps.store.sessions, record.key, deps.clock.now(), {
      providerOverride: null,
      modelOverride: null,
    });
  const { provider, id: name } = await resolveModel(model, call.config, deps.liveStatus?.());
  return patchSession(deps.store.sessions, record.key, deps.clock.now(), {
    providerOverride: provider,
    modelOverride: name,
  });
}

async function resolveModel(name: string, config: Config, liveStatus: LiveStatus | undefined): Promise<ModelRef> {
  const { pickListedModel } = await import("../../model/pick.ts");
  if (liveStatus !== undefined) return pickListedModel(name, config, await liveStatus.models());
  const { allModels } = await import("../../model/catalog.ts");
  return pickListedModel(name, config, allModels(config, []));
}

/** The same facts as /status. Facts that only a running gateway knows are left out elsewhere. */
async function describe(record: SessionRecord, call: ToolCall, deps: StatusDeps): Promise<string> {
  const entry = entryOf(record);
  const { clock, version } = deps;
  const liveStatus = deps.liveStatus?.();
  const { mode, debounceMs, cap, drop } = queueSettings(call.config, entry, entry.lastChannel ?? entry.channel);
  const active = liveStatus?.active(record.key) ?? 0;
  const window = entry.contextTokens;
  const used = entry.totalTokens ?? 0;
  const share = window === undefined || window === 0 ? "" : ` of ${window} (${Math.round((used / window) * 100)}%)`;
  const lines = [
    `OpenClaw ${version}`,
    `Time: ${timeLine(clock.now(), call.config)}`,
    `Session: ${record.key} (updated ${new Date(record.updatedAt).toISOString()})`,
    await modelLine(record, call, liveStatus),
    `Context: ${used}${share} tokens, ${entry.compactionCount ?? 0} compactions`,
    await usageLine(record, liveStatus),
    `Runs: ${isSandboxed(record, call) ? "sandboxed" : "on this host"}, workspace ${call.workspace}`,
    `Levels: thinking ${entry.thinkingLevel ?? "default"}, verbose ${entry.verboseLevel ?? "off"}, reasoning ${entry.reasoningLevel ?? "off"}, elevated ${entry.elevatedLevel ?? "default"}`,
    `Queue: ${mode} (wait ${debounceMs} ms, keep ${cap}, then drop ${drop}), ${active} running or waiting`,
  ];
  return lines.filter((line) => line !== undefined).join("\n");
}

async function modelLine(record: SessionRecord, call: ToolCall, liveStatus: LiveStatus | undefined): Promise<string> {
  const { providerOverride, modelOverride } = entryOf(record);
  const override = modelOverride === undefined ? undefined : { provider: providerOverride ?? "", id: modelOverride };
  const inUse = await liveStatus?.model(record.agentId, override);
  const named = override ?? inUse?.ref;
  const name = named === undefined ? defaultModel(call.config) : `${named.provider}/${named.id}`;
  const auth =
    inUse === undefined
      ? ""
      : inUse.credentials === 0
        ? ", no usable credential"
        : `, auth ready (${inUse.credentials})`;
  return `Model: ${name ?? "none configured"}${override === undefined ? "" : " (set for this session)"}${auth}`;
}

async function usageLine(record: SessionRecord, liveStatus: LiveStatus | undefined): Promise<string | undefined> {
  const { inputTokens = 0, outputTokens = 0 } = entryOf(record);
  const { input, output, costUsd } = (await liveStatus?.used(record.key)) ?? {
    input: inputTokens,
    output: outputTokens,
    costUsd: undefined,
  };
  const cost = costUsd === undefined ? "" : `, $${costUsd.toFixed(4)}`;
  return `Usage: ${input} tokens in, ${output} out${cost}`;
}

/** The call knows about its own session; for another session its key tells. */
function isSandboxed(record: SessionRecord, call: ToolCall): boolean {
  return record.key === call.session ? call.sandboxed : subjectOf({ sessionKey: record.key }, call.config).sandboxed;
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
