// The config schema for editors and forms: plain JSON Schema (draft 07) and hints for each key.
import { describeKeys } from "./describe.ts";
import { schemaRoot } from "./schema-root.ts";
import { describedAs, valueSchema, type SchemaNode } from "./schema-node.ts";

export interface UiHint {
  readonly label: string;
  readonly help?: string;
  /** The top-level key it belongs to. */
  readonly group: string;
  readonly order: number;
  readonly sensitive?: true;
  readonly placeholder?: string;
}

export function configJsonSchema(): Record<string, unknown> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "openclaw.json",
    ...plain(schemaRoot, true, false),
  };
}

/** By path: `[]` for any entry of a list, `*` for any key of a record. */
export function uiHints(): Record<string, UiHint> {
  const hints = describeKeys().map(({ path, description, sensitive, fallback }, order): [string, UiHint] => [
    path,
    {
      label: labelOf(path),
      ...(description === undefined ? {} : { help: description }),
      group: path.split(/[.[]/)[0] ?? path,
      order,
      ...(sensitive === true ? { sensitive } : {}),
      ...(fallback === undefined ? {} : { placeholder: fallback }),
    },
  ]);
  return Object.fromEntries(hints);
}

/** Keeps only keywords of JSON Schema. Records become `additionalProperties`, which every form supports. */
function plain(node: SchemaNode, hasDefaults: boolean, isBelowNotBuilt: boolean): Record<string, unknown> {
  const {
    sensitive: _,
    place: ___,
    notBuilt,
    inherits,
    fallback,
    properties,
    patternProperties: __,
    additionalProperties,
    items,
    anyOf,
    ...facts
  } = node;
  const filled = hasDefaults && inherits !== true;
  const isNotBuilt = isBelowNotBuilt || notBuilt === true;
  const toPlain = (child: SchemaNode): Record<string, unknown> => plain(child, filled, isNotBuilt);
  if (!filled) delete (facts as { default?: unknown }).default;
  const value = valueSchema(node);
  const rest = value === undefined ? additionalProperties : toPlain(value);
  const described = [
    describedAs(node, isNotBuilt),
    fallback === undefined ? undefined : `While unset: ${fallback}.`,
  ].filter((line) => line !== undefined);
  return {
    ...facts,
    ...(described.length === 0 ? {} : { description: described.join(" ") }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, toPlain) }),
    ...(rest === undefined ? {} : { additionalProperties: rest }),
    ...(items === undefined ? {} : { items: toPlain(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(toPlain) }),
  };
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/** `agents.defaults.mediaMaxMb` → `Media max mb`. */
function labelOf(path: string): string {
  const key =
    path
      .replaceAll("[]", "")
      .split(".")
      .filter((word) => word !== "*")
      .at(-1) ?? path;
  const words = key.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
