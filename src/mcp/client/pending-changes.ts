// What waits for the owner: MCP servers whose tools changed since they were approved.
import { OpenClawError } from "../../core/error.ts";
import type { Config } from "../../config/schema/index.ts";
import type { Pins } from "./pins.ts";
import { changesBetween, type RemoteTool } from "./remote-tool.ts";
import { identityOf, usedServers } from "./servers.ts";

export interface PendingChange {
  readonly text: string;
  /** The command that shows the changes and approves them. */
  readonly fix: string;
}

/** One for each server; starts none of them. */
export function pendingChanges(config: Config, pins: Pins): PendingChange[] {
  return usedServers(config).flatMap(({ id, config: server }) => {
    try {
      const pinned = pins.read(id, identityOf(server));
      return pinned?.pending === undefined ? [] : [describe(id, pinned.tools, pinned.pending)];
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      return [
        { text: `MCP server ${id} has no usable tools: ${error.message}.`, fix: error.hint ?? "openclaw mcp list" },
      ];
    }
  });
}

function describe(id: string, before: readonly RemoteTool[], after: readonly RemoteTool[]): PendingChange {
  const { added, changed, removed } = changesBetween(before, after);
  const parts = [
    list(
      "changed",
      changed.map((change) => change.after),
    ),
    list("new", added),
    list("removed", removed),
  ].filter((part) => part !== "");
  return {
    text: `MCP server ${id} changed its tools since you approved them: ${parts.join("; ")}. Agents use changed and new tools after you approve them.`,
    fix: `openclaw mcp approve ${id}`,
  };
}

const MAX_NAMES = 5;

function list(what: string, tools: readonly RemoteTool[]): string {
  if (tools.length === 0) return "";
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = tools.length > MAX_NAMES ? ` and ${tools.length - MAX_NAMES} more` : "";
  return `${what} ${names.join(", ")}${more}`;
}
