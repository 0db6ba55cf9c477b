// Failures of MCP servers as errors that say what happened and which command helps.
import { OpenClawError, ToolError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import { neutralize } from "../../base/untrusted-content.ts";
import { isGuardError } from "../../media/guard/reasons.ts";
import { loginNeeded } from "./login.ts";

export interface FailureContext {
  readonly id: string;
  /** How the program ended, when it did. */
  readonly end?: string | undefined;
  readonly timeoutMs: number;
}

/** `error` comes from the SDK, from the guard or from us. */
export function toFailure(error: unknown, { id, end, timeoutMs }: FailureContext): OpenClawError {
  const hint = `openclaw mcp test ${id}`;
  const guard = guardErrorIn(error);
  if (guard !== undefined)
    return new ToolError("mcp.unreachable", `MCP server ${id} could not be reached: ${guard.message}`, {
      hint: guard.hint ?? hint,
      cause: error,
    });
  if (error instanceof OpenClawError) return error;
  const { name = "", message = "", code } = error as { name?: string; message?: string; code?: unknown };
  const said = visible(neutralize(message), 500);
  if (name === "UnauthorizedError" || code === "CLIENT_HTTP_AUTHENTICATION") return loginNeeded(id);
  if (code === "REQUEST_TIMEOUT")
    return new ToolError("mcp.timeout", `MCP server ${id} did not answer within ${timeoutMs / 1000} s`, {
      hint: `${hint}, or raise mcp.servers.${id}.timeoutMs`,
    });
  if (end !== undefined)
    return new ToolError("mcp.ended", `MCP server ${id} ${end}. The next call starts it again`, { hint, cause: error });
  if (code === "CONNECTION_CLOSED")
    return new ToolError("mcp.ended", `MCP server ${id} closed the connection. The next call connects again`, { hint });
  if (typeof code === "number")
    return new ToolError("mcp.rejected", `MCP server ${id} rejected the request (${code}): ${said}`, { hint });
  return new ToolError("mcp.failed", `MCP server ${id} failed: ${said}`, { hint, cause: error });
}

function guardErrorIn(error: unknown, depth = 0): OpenClawError | undefined {
  if (isGuardError(error)) return error;
  return error instanceof Error && depth < 4 ? guardErrorIn(error.cause, depth + 1) : undefined;
}
