// Tool arguments as they arrive: checked for size and depth first, then read the way the tool declares them.
import { coerce } from "../core/coerce.ts";
import { ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Tool } from "./tool.ts";

const MAX_CHARS = 12_000_000;
const MAX_NODES = 100_000;
const MAX_DEPTH = 64;

/** Returns a plain object or throws `tool.bad-arguments` / `tool.arguments-too-large`. */
export function boundArguments(raw: unknown): Record<string, unknown> {
  if (raw === undefined || raw === null) return {};
  if (typeof raw !== "object" || Array.isArray(raw)) throw bad("arguments must be an object");
  const budget = { chars: MAX_CHARS, nodes: MAX_NODES };
  measure(raw, [], budget);
  return raw as Record<string, unknown>;
}

/** Folds aliases, treats null as absent, and reads numbers and booleans from text where the schema allows only one reading. */
export function prepareArguments(
  { params, prepare }: Pick<Tool, "params" | "prepare">,
  args: Record<string, unknown>,
): Record<string, unknown> {
  const given = withoutNulls(args);
  return coerce(params, prepare === undefined ? given : prepare(given)) as Record<string, unknown>;
}

function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(args).filter(([, value]) => value !== null);
  return given.length === Object.keys(args).length ? args : Object.fromEntries(given);
}

function measure(value: unknown, path: readonly string[], budget: { chars: number; nodes: number }): void {
  if (path.length > MAX_DEPTH) throw bad(`arguments are nested deeper than ${MAX_DEPTH} levels`);
  budget.nodes -= 1;
  if (typeof value === "string") measureText(value, path, budget);
  else if (typeof value === "number" && !Number.isFinite(value)) throw bad(`${named(path)} is not a finite number`);
  else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      measureText(key, path, budget);
      if (key === "__proto__") throw bad("arguments cannot contain the key __proto__");
      measure((value as Record<string, unknown>)[key], [...path, key], budget);
    }
  }
  if (budget.chars < 0 || budget.nodes < 0) {
    throw new ToolError(
      "tool.arguments-too-large",
      `arguments are larger than ${MAX_CHARS / 1_000_000} MB or ${MAX_NODES} values`,
      {
        hint: "pass large content in a file and give its path",
      },
    );
  }
}

function measureText(text: string, path: readonly string[], budget: { chars: number }): void {
  budget.chars -= text.length;
  if (budget.chars >= 0 && !text.isWellFormed())
    throw bad(`${named(path)} contains half a character (a lone surrogate)`);
}

const named = (path: readonly string[]): string =>
  path.length === 0 ? "arguments" : `"${visible(path.join("."), 100)}"`;

function bad(message: string): ToolError {
  return new ToolError("tool.bad-arguments", message, {
    hint: "send the arguments as one JSON object of whole values",
  });
}
