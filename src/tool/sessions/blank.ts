// Words that are none: an agent would begin a turn over nothing.
import { ToolError } from "../../core/error.ts";

export function blank(tool: string, name: string): ToolError {
  return new ToolError("tool.bad-arguments", `${tool}: ${name} is blank`, { hint: `${name}: say what is wanted` });
}
