// Maps a JSON Schema to a kind of form field; other schemas are edited as JSON.

export type Schema = Readonly<Record<string, unknown>>;

export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export interface Option {
  readonly label: string;
  readonly value: unknown;
}

export type Field =
  | { readonly kind: "text"; readonly multiline: boolean }
  | { readonly kind: "number" }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly options: readonly Option[] }
  | { readonly kind: "list"; readonly item: Schema; readonly itemName: string }
  | { readonly kind: "object"; readonly members: readonly Member[] }
  | { readonly kind: "variants"; readonly variants: readonly Schema[] }
  | { readonly kind: "json" };

/** `name` helps to decide between one line and several lines. */
export function fieldOf(schema: Schema, name = ""): Field {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: "choice", options };
  const variants = variantsOf(schema);
  if (variants?.length === 1 && variants[0] !== undefined)
    return fieldOf({ ...variants[0], ...annotationsOf(schema) }, name);
  if (variants !== undefined) return { kind: "variants", variants };
  switch (schema["type"]) {
    case "string":
      return { kind: "text", multiline: isLong(schema, name) };
    case "number":
    case "integer":
      return { kind: "number" };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return listOf(schema, name);
    case "object":
      return objectOf(schema);
    default:
      return { kind: "json" };
  }
}

export function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

export function describeSchema(schema: Schema): string | undefined {
  return typeof schema["description"] === "string" && schema["description"] !== "" ? schema["description"] : undefined;
}

/** An alias of another argument; the form shows one field for both. */
export function isAlias({ name, schema, required }: Member, members: readonly Member[]): boolean {
  if (required) return false;
  const [, meant] = /^same as (\w+)\b/i.exec(describeSchema(schema) ?? "") ?? [];
  return schema["deprecated"] === true || members.some((member) => member.name === meant && member.name !== name);
}

/** The name of a variant in the select list. */
export function variantLabel(schema: Schema): string {
  if (typeof schema["title"] === "string") return schema["title"];
  const field = fieldOf(schema);
  if (field.kind === "list") return `list of ${variantLabel(field.item)}`;
  if (field.kind === "text") return "text";
  return field.kind === "choice" ? field.options.map(({ label }) => label).join(" / ") : field.kind;
}

function optionsOf(schema: Schema): readonly Option[] | undefined {
  if ("const" in schema) return [toOption(schema["const"])];
  if (Array.isArray(schema["enum"])) return schema["enum"].map(toOption);
  const branches = branchesOf(schema);
  if (branches === undefined || branches.length === 0) return undefined;
  const nested = branches.map(optionsOf);
  return nested.every((entry) => entry !== undefined) ? nested.flat() : undefined;
}

function toOption(value: unknown): Option {
  return { label: typeof value === "string" ? value : JSON.stringify(value), value };
}

/** A `null` branch means that the value may be left out, which an empty field expresses. */
function variantsOf(schema: Schema): readonly Schema[] | undefined {
  const type = schema["type"];
  const branches =
    branchesOf(schema) ??
    (Array.isArray(type) ? type.map((entry) => ({ ...schema, type: entry as unknown })) : undefined);
  const real = branches?.filter((branch) => branch["type"] !== "null");
  return real === undefined || real.length === 0 ? undefined : real;
}

function branchesOf(schema: Schema): readonly Schema[] | undefined {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches) ? branches.map(asSchema) : undefined;
}

function annotationsOf({ title, description, default: preset }: Schema): Schema {
  return Object.fromEntries(
    Object.entries({ title, description, default: preset }).filter(([, value]) => value !== undefined),
  );
}

const longNames =
  /^(content|text|body|message|patch|input|prompt|task|script|code|html|markdown|note|(old|new)_?(text|string))$|(Text|Content)$/i;

function isLong(schema: Schema, name: string): boolean {
  const limit = schema["maxLength"];
  if (typeof limit === "number") return limit > 300;
  return longNames.test(name) || typeof schema["contentMediaType"] === "string";
}

function listOf(schema: Schema, name: string): Field {
  const item = schema["items"];
  if (Array.isArray(item) || typeof item !== "object" || item === null) return { kind: "json" };
  return { kind: "list", item: asSchema(item), itemName: name };
}

function objectOf(schema: Schema): Field {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const members = Object.entries(asSchema(schema["properties"])).map(([name, member]): Member => ({
    name,
    schema: asSchema(member),
    required: required.includes(name),
  }));
  // A map with free keys has no fixed fields; an object without properties is empty.
  const isMap =
    "patternProperties" in schema ||
    (typeof schema["additionalProperties"] === "object" && schema["additionalProperties"] !== null);
  if (isMap || (members.length === 0 && schema["additionalProperties"] !== false && !("properties" in schema)))
    return { kind: "json" };
  return { kind: "object", members };
}
