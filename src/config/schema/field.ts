// Helpers for the config schema: every key is optional and described, every object is closed.
import { Type, type TSchema } from "../../core/schema.ts";

/**
 * What a key may carry besides its type. `default` is put into the loaded config; `fallback` only says in words what
 * happens while the key is unset, for values that depend on other keys or on the state directory.
 */
export interface Facts {
  readonly default?: unknown;
  readonly fallback?: string;
  /** A secret: redacted on the way out, masked in logs. */
  readonly sensitive?: true;
  /**
   * A file or folder of the gateway outside of its state folder. Commands that start by a rule alone do not see what is
   * `hidden`, and cannot change what is `kept`: code, pages and instructions that the gateway takes from there.
   */
  readonly place?: "hidden" | "kept";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
}

/**
 * Marks a key, and everything below it, that published clients may set although the part it belongs to does not exist
 * here yet: the schema, the docs and `openclaw doctor` say so (docs/decisions/0037-config-keys-of-parts-not-built.md).
 */
export const notBuilt = <Schema extends TSchema>(schema: Schema): Schema => Object.assign(schema, { notBuilt: true });

type Shape = Parameters<typeof Type.Object>[0];

export const text = (description: string, facts: Facts = {}) => Type.Optional(Type.String({ description, ...facts }));

export const secret = (description: string) => Type.Optional(Type.String({ description, sensitive: true }));

export const flag = (description: string, facts: Facts = {}) => Type.Optional(Type.Boolean({ description, ...facts }));

/** A whole number, not negative unless `minimum` says so. */
export const whole = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.Integer({ description, minimum: 0, ...facts }));

export const number = (description: string, facts: Facts = {}) => Type.Optional(Type.Number({ description, ...facts }));

/** A span such as `30m`, `2h`, `90s`; a bare number counts in the unit the description names. */
export const span = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.String({ description, pattern: "^(\\d+(\\.\\d+)?\\s*(ms|s|m|h|d)?\\s*)+$", ...facts }));

export const choice = <const Values extends string[]>(
  description: string,
  values: readonly [...Values],
  facts: Facts = {},
) => Type.Optional(Type.Enum(values, { type: "string", description, ...facts }));

export const texts = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.Array(Type.String(), { description, ...facts }));

export const list = <Item extends TSchema>(description: string, item: Item, facts: Facts = {}) =>
  Type.Optional(Type.Array(item, { description, ...facts }));

export const record = <Value extends TSchema>(description: string, value: Value, facts: Facts = {}) =>
  Type.Optional(Type.Record(Type.String(), value, { description, ...facts }));

/** Free values under free names, for settings that belong to someone else (plugins, skills, providers). */
export const anything = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

export const oneOf = <Types extends TSchema[]>(description: string, types: [...Types], facts: Facts = {}) =>
  Type.Optional(Type.Union(types, { description, ...facts }));

/** A closed object that is always there once its parent is, so that the defaults inside it apply. */
export const section = <Properties extends Shape>(description: string, properties: Properties) =>
  Type.Optional(Type.Object(properties, { description, additionalProperties: false, default: {} }));

/** A closed object that exists only when the file sets it. */
export const group = <Properties extends Shape>(description: string, properties: Properties) =>
  Type.Optional(closed(properties, description));

/** A closed object as such: the element of a list or the value of a record. */
export const closed = <Properties extends Shape>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/** The same keys where they override what stands elsewhere: nothing inside is filled in by default. */
export function overriding<Schema extends TSchema>(schema: Schema, description?: string): Schema {
  const { default: _, ...facts } = Object.getOwnPropertyDescriptors(schema) as PropertyDescriptorMap;
  const copy = Object.defineProperties({}, facts) as Schema & { inherits: true; description?: string };
  copy.inherits = true;
  if (description !== undefined) copy.description = description;
  return copy;
}

/** Ids as people write them: numbers are fine where a platform uses numbers. */
export const ids = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number()]), { description, ...facts }));

/** First-match rules over where a message would go, as `session.sendPolicy` has them. */
export const sendRules = (description: string) =>
  group(description, {
    default: choice("What happens when no rule matches.", ["allow", "deny"], { fallback: "allow" }),
    rules: list(
      "Rules; a matching deny wins.",
      closed({
        action: Type.Enum(["allow", "deny"], { type: "string", description: "What the rule does." }),
        match: group("What the rule matches.", {
          channel: text("Channel id."),
          chatType: choice("Kind of chat.", ["direct", "group", "channel", "room"]),
          keyPrefix: text("Prefix of the session key."),
        }),
      }),
    ),
  });
