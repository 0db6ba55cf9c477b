// The one door to the schema library: JSON Schema objects with static types, compiled on first use.
import Type, { type Static, type TObject, type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/schema";

import { HouseError } from "./error.ts";

export { Type };
export type { Static, TObject, TSchema };

/** One thing wrong with a value. `path` is a JSON pointer, "" for the value itself. */
export interface Issue {
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
  /** The unexpected or missing property, where the issue is about one. */
  readonly key?: string;
}

export interface Checker<T> {
  readonly schema: TSchema;
  is(value: unknown): value is T;
  /** Empty when the value fits. At most a few dozen, in document order. */
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
      throw new HouseError(code, `invalid ${what}: ${describeIssues(issues(value))}`);
    },
  };
}

/** "at /limit: must be integer; at root: unexpected property 'zzz'": the wording published clients match on. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map((issue) => describeIssue(issue)).join("; ");
}

function describeIssue({ path, keyword, message }: Issue): string {
  if (path !== "") return `at ${path}: ${message}`;
  return keyword === "additionalProperties" ? `at root: ${message}` : message;
}

interface RawIssue {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

function toIssues(raw: readonly RawIssue[]): Issue[] {
  return raw.flatMap((issue): Issue[] => {
    const { keyword, instancePath: path } = issue;
    const params = issue.params as Record<string, unknown>;
    if (keyword === "boolean") return []; // said again, better, by additionalProperties
    if (keyword === "required") {
      const keys = params["requiredProperties"] as string[];
      return keys.map((key) => ({ path, keyword, key, message: `must have required property '${key}'` }));
    }
    if (keyword === "additionalProperties") {
      const keys = params["additionalProperties"] as string[];
      return keys.map((key) => ({ path, keyword, key, message: `unexpected property '${key}'` }));
    }
    return [{ path, keyword, message: wording(issue.message) }];
  });
}

function wording(message: string): string {
  return message.replace(/^must not have /, "must NOT have ");
}
