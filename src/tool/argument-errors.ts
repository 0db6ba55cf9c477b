// Errors about tool arguments: which parameter is wrong, what it must be, and what the tool accepts.
import { ToolError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import type { Issue, TObject } from "../core/schema.ts";
import { visible } from "../core/visible.ts";
import type { Tool } from "./tool.ts";

const MAX_ISSUES = 8;

export function badArguments(
  { name, params, unrecorded = [] }: Pick<Tool, "name" | "params" | "unrecorded">,
  args: Record<string, unknown>,
  issues: readonly Issue[],
): ToolError {
  const shown = issues.slice(0, MAX_ISSUES);
  const sentences = shown.map((issue) => describe(issue, name, args, unrecorded));
  return new ToolError("tool.bad-arguments", `${name}: ${[...new Set(sentences)].join("; ")}`, {
    hint: hintFor(shown, name, params),
    details: { issues: shown },
  });
}

function describe(issue: Issue, tool: string, args: Record<string, unknown>, secret: readonly string[]): string {
  const { path, keyword, message, key = "" } = issue;
  const field = fieldName(path);
  if (keyword === "required") return `missing ${quoted(joined(field, key))}`;
  if (keyword === "additionalProperties")
    return field === "" ? `${tool} has no parameter ${quoted(key)}` : `${quoted(field)} has no field ${quoted(key)}`;
  const given = valueAt(args, path);
  if (keyword === "pattern" && typeof given === "string" && given.trim() === "")
    return given === "" ? `missing ${quoted(field)}` : `${quoted(field)} is blank`;
  const isSecret = secret.includes(field.split(".")[0] ?? "");
  if (message === "must be array" && typeof given === "string" && !isSecret)
    return `${quoted(field)} must be a list: [${shortJson(given)}]`;
  return `${quoted(field)} ${plain(message)}, not ${isSecret ? kindOf(given) : shortJson(given)}`;
}

/** JSON Schema messages in plain English. */
const plainMessages: readonly (readonly [RegExp, string])[] = [
  [/^must be array$/, "must be a list"],
  [/^must be object$/, "must be an object"],
  [/^must be string$/, "must be text"],
  [/^must be number$/, "must be a number"],
  [/^must be integer$/, "must be a whole number"],
  [/^must be boolean$/, "must be true or false"],
  [/^must be >= /, "must be at least "],
  [/^must be <= /, "must be at most "],
  [/^must NOT have fewer than (\d+) characters$/, "must have at least $1 characters"],
  [/^must NOT have more than (\d+) (characters|items)$/, "must have at most $1 $2"],
  [/^must be equal to one of the allowed values:/, "must be one of"],
];

function plain(message: string): string {
  const found = plainMessages.find(([pattern]) => pattern.test(message));
  return found === undefined ? message : message.replace(...found);
}

/** For a wrong value the description of its parameter, which shows the right form; else the names of all parameters. */
function hintFor([first]: readonly Issue[], tool: string, params: TObject): string {
  const isWrongValue = first !== undefined && first.keyword !== "required" && first.keyword !== "additionalProperties";
  return (isWrongValue ? described(params, steps(first.path)) : undefined) ?? parametersOf(tool, params);
}

/** The deepest parameter on the way that has a description: of a list item, that of its list. */
function described(schema: unknown, path: readonly string[], name = ""): string | undefined {
  const { properties, description } = isRecord(schema) ? schema : {};
  const [step = "", ...deeper] = path;
  const inner =
    isRecord(properties) && Object.hasOwn(properties, step)
      ? described(properties[step], deeper, joined(name, step))
      : undefined;
  return inner ?? (typeof description === "string" ? `${name}: ${description}` : undefined);
}

function parametersOf(tool: string, params: TObject): string {
  const names = Object.keys(params.properties);
  const required = new Set(params.required ?? []);
  const list = names.map((name) => (required.has(name) ? `${name} (required)` : name));
  return list.length === 0 ? `${tool} takes no parameters` : `${tool} takes ${list.join(", ")}`;
}

/** `/job/schedule/0` becomes `job.schedule.0`. */
function fieldName(pointer: string): string {
  return steps(pointer).join(".");
}

function valueAt(value: unknown, pointer: string): unknown {
  return steps(pointer).reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return inner[Number(step)] as unknown;
    return isRecord(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  }, value);
}

function steps(pointer: string): readonly string[] {
  return pointer === ""
    ? []
    : pointer
        .slice(1)
        .split("/")
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const joined = (field: string, key: string): string => (field === "" ? key : `${field}.${key}`);
const quoted = (name: string): string => `"${visible(name, 100)}"`;
const shortJson = (value: unknown): string => visible(JSON.stringify(value) ?? "undefined", 60);

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : `a value of type ${typeof value}`;
}
