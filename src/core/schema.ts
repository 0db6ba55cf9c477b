// Wraps the schema library: JSON Schema objects with static types, compiled on first use.
import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/schema";

import { OpenClawError } from "./error.ts";
import { visible } from "./visible.ts";

export { Type };
export type { Static, TObject, TProperties, TSchema };

/** One problem of a value. `path` is a JSON pointer, "" for the value itself. */
export interface Issue {
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
  /** The unexpected or missing property, for issues about a property. */
  readonly key?: string;
}

export interface Checker<T> {
  readonly schema: TSchema;
  is(value: unknown): value is T;
  /** Empty when the value is valid. At most a few dozen, in document order. */
  issues(value: unknown): Issue[];
  /** Returns the value typed, or throws `code` with all issues in one sentence. */
  parse(value: unknown, code: string, what: string): T;
}

/** Compiles on first use, so that declaring a schema costs nothing at start-up. */
export function checker<S extends TSchema>(schema: S): Checker<Static<S>> {
  let compiled: Validator | undefined;
  const validator = (): Validator => (compiled ??= Compile(schema));
  const is = (value: unknown): value is Static<S> => validator().Check(value);
  const issues = (value: unknown): Issue[] => (is(value) ? [] : toIssues(validator().Errors(value)[1]));
  return {
    schema,
    is,
    issues,
    parse(value, code, what) {
      if (is(value)) return value;
      throw new OpenClawError(code, `invalid ${what}: ${describeIssues(issues(value))}`);
    },
  };
}

/** "at /limit: must be integer; at root: unexpected property 'zzz'": the wording published clients match on. */
export function describeIssues(issues: readonly Issue[]): string {
  const more = issues.length > MAX_TOLD ? [`and ${issues.length - MAX_TOLD} more`] : [];
  return [...issues.slice(0, MAX_TOLD).map((issue) => describeIssue(issue)), ...more].join("; ");
}

/** Bounded and escaped: the sender chooses the names, and people and models read the message. */
const MAX_TOLD = 50;
const MAX_NAME = 200;

function describeIssue({ path, keyword, message }: Issue): string {
  if (path !== "") return `at ${visible(path, MAX_NAME)}: ${message}`;
  return keyword === "additionalProperties" ? `at root: ${message}` : message;
}

interface RawIssue {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Never empty, because callers treat an empty list as valid. */
function toIssues(raw: readonly RawIssue[]): Issue[] {
  const issues = wordedIssues(raw);
  if (issues.length > 0) return issues;
  // The library stops after some issues, and all of them may be of the kind that is skipped above.
  const closed = raw.flatMap(({ keyword, instancePath }) => (keyword === "boolean" ? [unexpected(instancePath)] : []));
  return closed.length > 0 ? closed : [{ path: "", keyword: "schema", message: "is not valid" }];
}

function unexpected(pointer: string): Issue {
  const at = pointer.lastIndexOf("/");
  const key = pointer
    .slice(at + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  return unexpectedAt(pointer.slice(0, Math.max(0, at)), key);
}

function unexpectedAt(path: string, key: string): Issue {
  return { path, keyword: "additionalProperties", key, message: `unexpected property '${visible(key, MAX_NAME)}'` };
}

function wordedIssues(raw: readonly RawIssue[]): Issue[] {
  return raw.flatMap((issue): Issue[] => {
    const { keyword, instancePath: path } = issue;
    const params = issue.params as Record<string, unknown>;
    if (keyword === "boolean") return []; // additionalProperties reports the same with the name of the key
    if (keyword === "required") {
      const keys = params["requiredProperties"] as string[];
      return keys.map((key) => ({ path, keyword, key, message: `must have required property '${key}'` }));
    }
    if (keyword === "additionalProperties") {
      const keys = params["additionalProperties"] as string[];
      return keys.map((key) => unexpectedAt(path, key));
    }
    if (keyword === "enum")
      return [{ path, keyword, message: `${issue.message}: ${choices(params["allowedValues"])}` }];
    return [{ path, keyword, message: wording(issue.message) }];
  });
}

const MAX_CHOICES = 40;

/** Lists the allowed values, so that the sender need not look them up. */
function choices(values: unknown): string {
  const words = Array.isArray(values) ? values.map(String) : [];
  return words.length > MAX_CHOICES ? `${words.slice(0, MAX_CHOICES).join(", ")}, …` : words.join(", ");
}

function wording(message: string): string {
  return message.replace(/^must not have /, "must NOT have ");
}
