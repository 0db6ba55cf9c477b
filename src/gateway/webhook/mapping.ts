// Rules for webhooks of other programs: the first match turns the payload into an action, by templates or a script.
import { OpenClawError } from "../../core/error.ts";
import type { Config } from "../../config/schema/index.ts";
import type { Draft } from "./action.ts";
import { presetNamed, type Mapping } from "./presets.ts";
import { fillTemplate, readsPayload } from "./template.ts";
import type { RunTransform, TransformContext } from "./transform.ts";

/** Undefined when no rule and no preset matches. */
export function findMapping(config: Config, path: string, payload: unknown): Mapping | undefined {
  const { mappings = [], presets = [] } = config.hooks ?? {};
  const ready = presets.flatMap((name) => presetNamed(name, config) ?? []);
  return [...mappings, ...ready].find((mapping) => fits(mapping, path, payload));
}

/** Null when the script returns no action. */
export async function draftOf(mapping: Mapping, context: TransformContext, run: RunTransform): Promise<Draft | null> {
  const base = fromTemplates(mapping, context);
  const { transform } = mapping;
  if (transform?.module === undefined) return base;
  const made = await run({ module: transform.module, export: transform.export }, context);
  return made === null ? null : fromScript(base, made);
}

function fits({ match }: Mapping, path: string, payload: unknown): boolean {
  const trimmed = (word: string): string => word.replaceAll(/^\/+|\/+$/g, "");
  if (match?.path !== undefined && trimmed(match.path) !== path) return false;
  if (match?.source === undefined) return true;
  const isObject = typeof payload === "object" && payload !== null && Object.hasOwn(payload, "source");
  return isObject && (payload as { source: unknown }).source === match.source;
}

function fromTemplates(mapping: Mapping, { payload, path }: TransformContext): Draft {
  const { action: kind = "agent", sessionKey, name, id, messageTemplate, textTemplate } = mapping;
  const fill = (template: string | undefined): string => fillTemplate(template ?? "", payload);
  const whole = (): string => JSON.stringify(payload, undefined, 1);
  const { wakeMode, agentId, deliver, channel, to, model, thinking, timeoutSeconds } = mapping;
  const fields =
    kind === "wake"
      ? { text: textTemplate === undefined ? whole() : fill(textTemplate), wakeMode, agentId }
      : {
          message: messageTemplate === undefined ? whole() : fill(messageTemplate),
          sessionKey: sessionKey === undefined ? undefined : asKey(sessionKey, payload),
          wakeMode,
          agentId,
          deliver,
          channel,
          to,
          model,
          thinking,
          timeoutSeconds,
        };
  return {
    kind,
    author: "rule",
    name: (name === undefined ? "" : fill(name)) || id || path,
    isTrusted: mapping.allowUnsafeExternalContent === true,
    keyIsRead: readsPayload(sessionKey ?? ""),
    fields: withoutUnset(fields),
  };
}

/** Fields that a script omits keep the values of the rule; a script that changes the kind must give all fields. */
function fromScript(base: Draft, made: Readonly<Record<string, unknown>>): Draft {
  const { kind, action, ...fields } = made;
  const wanted = kind ?? action ?? base.kind;
  if (wanted !== "wake" && wanted !== "agent")
    throw new OpenClawError("hook.bad-rule", 'the transform must return kind "wake" or "agent", or leave it out');
  const kept = wanted === base.kind ? base.fields : {};
  // Agent and session have the owner's trust only if the script does not set them.
  const author = "agentId" in fields || "sessionKey" in fields ? "script" : base.author;
  return { ...base, kind: wanted, author, fields: { ...kept, ...withoutUnset(fields) } };
}

/** Turns a payload value into a name: removes characters that a key cannot contain. */
function asKey(template: string, payload: unknown): string {
  if (!readsPayload(template)) return template;
  return fillTemplate(template, payload)
    .replaceAll(/[^\p{L}\p{N}@+._#=!$%&*~:-]+/gu, "-")
    .replaceAll("..", ".")
    .slice(0, 180)
    .toWellFormed();
}

function withoutUnset(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
