// Arguments from outside: bounded before anything looks at them, then read the way the tool declares them.
import { coerce } from "../core/coerce.ts";
import { ToolError } from "../core/error.ts";
import type { Tool } from "./tool.ts";

const MAX_CHARS = 12_000_000;
const MAX_NODES = 100_000;
const MAX_DEPTH = 64;

/** Returns a plain object or throws `tool.bad-arguments` / `tool.arguments-too-large`. */
export function boundArguments(raw: unknown): Record<string, unknown> {
  if (raw === undefined || raw === null) return {};
  if (typeof raw !== "object" || Array.isArray(raw))
    throw new ToolError("tool.bad-arguments", "arguments must be an object");
  const budget = { chars: MAX_CHARS, nodes: MAX_NODES };
  measure(raw, 0, budget);
  return raw as Record<string, unknown>;
}

/** Aliases folded, null taken for absent, and numbers and booleans read from text where the schema leaves no doubt. */
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

function measure(value: unknown, depth: number, budget: { chars: number; nodes: number }): void {
  if (depth > MAX_DEPTH)
    throw new ToolError("tool.bad-arguments", `arguments are nested deeper than ${MAX_DEPTH} levels`);
  budget.nodes -= 1;
  if (typeof value === "string") measureText(value, budget);
  else if (typeof value === "number" && !Number.isFinite(value))
    throw new ToolError("tool.bad-arguments", "arguments hold a number that is not finite");
  else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      measureText(key, budget);
      if (key === "__proto__") throw new ToolError("tool.bad-arguments", "arguments hold the key __proto__");
      measure((value as Record<string, unknown>)[key], depth + 1, budget);
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

function measureText(text: string, budget: { chars: number }): void {
  budget.chars -= text.length;
  if (budget.chars >= 0 && !text.isWellFormed())
    throw new ToolError("tool.bad-arguments", "arguments hold broken text (a lone surrogate)");
}
