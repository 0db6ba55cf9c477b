// Helpers for the config schema: every key is optional and described, every object is closed.
import { Type, type TSchema } from "../../core/schema.ts";

/**
 * What a key may have besides its type. `default` is filled into the loaded config; `fallback` only describes the value
 * of an unset key, where it depends on other keys or on the state folder.
 */
export interface Facts {
  readonly default?: unknown;
  readonly fallback?: string;
  /** A secret: redacted in output and logs. */
  readonly sensitive?: true;
  /**
   * A file or folder of the gateway outside its state folder. Commands that no person approved do not see `hidden`
   * ones, and cannot change `kept` ones: code, pages and instructions that the gateway loads.
   */
  readonly place?: "hidden" | "kept";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
}

/**
 * Marks a key, and everything below it, that published clients may set although its feature is not built yet: the
 * schema, the docs and `openclaw doctor` say so (docs/decisions/0037-config-keys-of-parts-not-built.md).
 */
export const notBuilt = <Schema extends TSchema>(schema: Schema): Schema => Object.assign(schema, { notBuilt: true });

type Shape = Parameters<typeof Type.Object>[0];

export const text = (description: string, facts: Facts = {}) => Type.Optional(Type.String({ description, ...facts }));

export const secret = (description: string) => Type.Optional(Type.String({ description, sensitive: true }));

export const flag = (description: string, facts: Facts = {}) => Type.Optional(Type.Boolean({ description, ...facts }));

/** An integer, not negative unless `minimum` allows it. */
export const whole = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.Integer({ description, minimum: 0, ...facts }));

export const number = (description: string, facts: Facts = {}) => Type.Optional(Type.Number({ description, ...facts }));

/** A duration such as `30m`, `2h`, `90s`; a bare number has the unit that the description names. */
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

/** Free values under free names, for settings of plugins, skills and providers. */
export const anything = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

export const oneOf = <Types extends TSchema[]>(description: string, types: [...Types], facts: Facts = {}) =>
  Type.Optional(Type.Union(types, { description, ...facts }));

/** A closed object that always exists with its parent, so that its defaults apply. */
export const section = <Properties extends Shape>(description: string, properties: Properties) =>
  Type.Optional(Type.Object(properties, { description, additionalProperties: false, default: {} }));

/** A closed object that exists only when the file sets it. */
export const group = <Properties extends Shape>(description: string, properties: Properties) =>
  Type.Optional(closed(properties, description));

/** A closed object: the element of a list or the value of a record. */
export const closed = <Properties extends Shape>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/** The same keys where they override others: no defaults are filled in. */
export function overriding<Schema extends TSchema>(schema: Schema, description?: string): Schema {
  const { default: _, ...facts } = Object.getOwnPropertyDescriptors(schema) as PropertyDescriptorMap;
  const copy = Object.defineProperties({}, facts) as Schema & { inherits: true; description?: string };
  copy.inherits = true;
  if (description !== undefined) copy.description = description;
  return copy;
}

/** Ids as text or number, because some platforms use numbers. */
export const ids = (description: string, facts: Facts = {}) =>
  Type.Optional(Type.Array(Type.Union([Type.String(), Type.Number()]), { description, ...facts }));

/** Rules about the chat of a message, as in `session.sendPolicy`. */
export const sendRules = (description: string, order = "Rules; a matching deny wins.") =>
  group(description, {
    default: choice("What happens when no rule matches.", ["allow", "deny"], { fallback: "allow" }),
    rules: list(
      order,
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
