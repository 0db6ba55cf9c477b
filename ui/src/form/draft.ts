// Converts between the draft in the fields of a form and the value it stands for.
import { checkValue, memberPath, type FieldIssue } from "./check.ts";
import { fieldOf, type Field, type Schema } from "./field.ts";
import { isEqual } from "./json-equal.ts";

/** The text of a field, the entries of a list, the members of an object, or the selected variant with its draft. */
export type Draft =
  | string
  | readonly Draft[]
  | { readonly members: Readonly<Record<string, Draft>> }
  | { readonly pick: string; readonly draft: Draft };

export interface Reading {
  /** Undefined: left out. */
  readonly value: unknown;
  readonly issues: readonly FieldIssue[];
}

/** The value of a draft, with all its problems. */
export function readDraft(schema: Schema, draft: Draft): Reading {
  const reading = read(schema, draft, { required: true, path: "", name: "" });
  if (reading.issues.length > 0) return reading;
  return { value: reading.value, issues: checkValue(schema, reading.value) };
}

export function emptyDraft(field: Field): Draft {
  if (field.kind === "list") return [];
  if (field.kind === "object") return { members: {} };
  return field.kind === "variants" ? { pick: "", draft: "" } : "";
}

export function toDraft(schema: Schema, value: unknown, name = ""): Draft {
  const field = fieldOf(schema, name);
  if (value === undefined) return emptyDraft(field);
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? value : "";
    case "number":
    case "boolean":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
    case "choice": {
      const index = field.options.findIndex((option) => isEqual(option.value, value));
      return index < 0 ? "" : String(index);
    }
    case "list":
      return Array.isArray(value) ? value.map((item) => toDraft(field.item, item)) : [];
    case "object":
      return {
        members: Object.fromEntries(
          field.members.map((member) => [
            member.name,
            toDraft(member.schema, memberOf(value, member.name), member.name),
          ]),
        ),
      };
    case "variants": {
      const index = field.variants.findIndex((variant) => checkValue(variant, value).length === 0);
      const variant = field.variants[index];
      return variant === undefined
        ? { pick: "", draft: "" }
        : { pick: String(index), draft: toDraft(variant, value, name) };
    }
    case "json":
      return JSON.stringify(value, null, 2);
  }
}

/** False when the fields would lose part of the value, which is then edited as JSON. */
export function canShow(schema: Schema, value: unknown): boolean {
  return isEqual(read(schema, toDraft(schema, value), { required: true, path: "", name: "" }).value, value);
}

export function membersOf(draft: Draft): Readonly<Record<string, Draft>> {
  return typeof draft === "object" && "members" in draft ? draft.members : {};
}

export function entriesOf(draft: Draft): readonly Draft[] {
  return Array.isArray(draft) ? draft : [];
}

export function variantOf(draft: Draft): { readonly pick: string; readonly draft: Draft } {
  return typeof draft === "object" && "pick" in draft ? draft : { pick: "", draft: "" };
}

export function draftText(draft: Draft): string {
  return typeof draft === "string" ? draft : "";
}

interface FieldPosition {
  readonly required: boolean;
  readonly path: string;
  readonly name: string;
}

function read(schema: Schema, draft: Draft, position: FieldPosition): Reading {
  const field = fieldOf(schema, position.name);
  if (isBlank(draft)) return readBlank(field, position);
  const { path } = position;
  switch (field.kind) {
    case "text":
      return { value: draftText(draft), issues: [] };
    case "number":
      return readNumber(draftText(draft), path);
    case "boolean":
      return { value: draftText(draft) === "true", issues: [] };
    case "choice":
      return { value: field.options[Number(draftText(draft))]?.value, issues: [] };
    case "list":
      return readList(field.item, entriesOf(draft), path);
    case "object":
      return readObject(field, membersOf(draft), path);
    case "variants": {
      const { pick, draft: inner } = variantOf(draft);
      return read(field.variants[Number(pick)] ?? {}, inner, { ...position, required: true });
    }
    case "json":
      return readJson(draftText(draft), path);
  }
}

/** An untouched optional field is left out; long text may be empty on purpose (an empty file, a deletion). */
function readBlank(field: Field, { required, path }: FieldPosition): Reading {
  if (!required) return { value: undefined, issues: [] };
  if (field.kind === "list") return { value: [], issues: [] };
  if (field.kind === "object") return readObject(field, {}, path);
  if (field.kind === "text" && field.multiline) return { value: "", issues: [] };
  if (field.kind === "choice" && field.options.length === 1) return { value: field.options[0]?.value, issues: [] };
  return { value: undefined, issues: [{ path, message: "Required." }] };
}

function readNumber(text: string, path: string): Reading {
  const value = Number(text);
  return Number.isFinite(value)
    ? { value, issues: [] }
    : { value: undefined, issues: [{ path, message: "Must be a number." }] };
}

function readJson(text: string, path: string): Reading {
  try {
    return { value: JSON.parse(text) as unknown, issues: [] };
  } catch (error) {
    return {
      value: undefined,
      issues: [{ path, message: `Not JSON: ${error instanceof Error ? error.message : String(error)}` }],
    };
  }
}

function readList(item: Schema, entries: readonly Draft[], path: string): Reading {
  const readings = entries.map((entry, index) => readEntry(item, entry, `${path}/${index}`));
  return { value: readings.map(({ value }) => value), issues: readings.flatMap(({ issues }) => issues) };
}

/** An empty text in a list is kept, because the person added its row on purpose. */
function readEntry(item: Schema, entry: Draft, path: string): Reading {
  if (entry === "" && fieldOf(item).kind === "text") return { value: "", issues: [] };
  return read(item, entry, { required: true, path, name: "" });
}

function readObject(
  field: Extract<Field, { kind: "object" }>,
  members: Readonly<Record<string, Draft>>,
  path: string,
): Reading {
  const readings = field.members.map(({ name, schema, required }) => {
    const draft = members[name] ?? emptyDraft(fieldOf(schema, name));
    return [name, read(schema, draft, { required, path: memberPath(path, name), name })] as const;
  });
  const set = readings
    .filter(([, { value }]) => value !== undefined)
    .map(([name, { value }]) => [name, value] as const);
  return { value: Object.fromEntries(set), issues: readings.flatMap(([, { issues }]) => issues) };
}

function isBlank(draft: Draft): boolean {
  if (typeof draft === "string") return draft === "";
  if ("pick" in draft) return draft.pick === "";
  if ("members" in draft) return Object.values(draft.members).every(isBlank);
  return draft.length === 0;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
