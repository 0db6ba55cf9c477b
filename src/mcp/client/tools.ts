// Tools of MCP servers as tools of ours: `server__tool`, judged, journaled and bounded like every other.
import { setTimeout as sleep } from "node:timers/promises";

import { ToolError } from "../../core/error.ts";
import { sha256 } from "../../base/ids.ts";
import { neutralize } from "../../base/untrusted-content.ts";
import type { Tool, ToolCall } from "../../tool/tool.ts";
import { globMatches, toGlob } from "../../tool/policy/match.ts";
import type { Connection } from "./connection.ts";
import type { Pinned } from "./pins.ts";
import { hashOf, type RemoteTool } from "./remote-tool.ts";
import { toResult } from "./result.ts";
import { safeSchema } from "./schema.ts";
import type { McpServer } from "./servers.ts";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_500;
const SETTLE_MS = 1_000;

/** The approved tools of a server; one that changed since is there and cannot be used. */
export function toolsOf(server: McpServer, pinned: Pinned, connect: (call: ToolCall) => Connection): Tool[] {
  const now = new Map(pinned.pending?.map((tool) => [tool.name, hashOf(tool)]));
  const isSame = (tool: RemoteTool): boolean => pinned.pending === undefined || now.get(tool.name) === hashOf(tool);
  const names = new Set<string>();
  return pinned.tools.flatMap((remote) => {
    const name = modelName(server.id, remote.name);
    // Two tools whose names differ only in case or in characters that models cannot write: the first one stays.
    if (!isWanted(remote.name, server) || names.has(name.toLowerCase())) return [];
    names.add(name.toLowerCase());
    return [toTool(server, remote, name, isSame(remote), connect)];
  });
}

function toTool(
  { id }: McpServer,
  remote: RemoteTool,
  name: string,
  isSame: boolean,
  connect: (call: ToolCall) => Connection,
): Tool {
  const said = neutralize(remote.description).trim();
  const output = remote.outputSchema === undefined ? undefined : safeSchema(remote.outputSchema);
  return {
    name,
    summary: summaryOf(remote, said),
    description: `Tool of the MCP server ${id}, in the words of that server: ${said.slice(0, MAX_DESCRIPTION).toWellFormed()}`,
    params: safeSchema(remote.inputSchema),
    ...(output === undefined ? {} : { output }),
    available: () =>
      isSame
        ? { available: true }
        : {
            available: false,
            reason: `MCP server ${id} changed this tool since it was approved`,
            fix: `openclaw mcp approve ${id}`,
          },
    place: () => ({ runs: "mcp", summary: `on MCP server ${id}`, rules: [`mcp.servers.${id}`] }),
    intent: () => (remote.readOnly ? { does: "look" } : { does: "send", to: `mcp:${id}` }),
    async run(args, call) {
      const connection = connect(call);
      await requireUnchanged(connection, id, remote);
      return toResult(await connection.call(remote.name, args, call), id, name, output);
    },
  };
}

/** The server may have changed it after the catalog was made. */
async function requireUnchanged(connection: Connection, id: string, approved: RemoteTool): Promise<void> {
  const find = async () => (await connection.tools()).find(({ name }) => name === approved.name);
  let current = await find();
  if (current === undefined) {
    // Some servers declare more tools right after they start.
    await sleep(SETTLE_MS);
    current = await find();
  }
  if (current === undefined)
    throw new ToolError("mcp.tool-removed", `MCP server ${id} no longer has the tool ${approved.name}`, {
      hint: `openclaw mcp approve ${id}`,
    });
  if (current === approved || sameTool(current, approved)) return;
  throw new ToolError("mcp.tool-changed", `MCP server ${id} changed the tool ${approved.name} since it was approved`, {
    hint: `openclaw mcp approve ${id}`,
    details: { refused: true },
  });
}

const hashes = new WeakMap<RemoteTool, string>();

function sameTool(left: RemoteTool, right: RemoteTool): boolean {
  return knownHash(left) === knownHash(right);
}

function knownHash(tool: RemoteTool): string {
  const known = hashes.get(tool) ?? hashOf(tool);
  hashes.set(tool, known);
  return known;
}

function summaryOf({ title, name }: RemoteTool, said: string): string {
  const line = (title ?? said.split(/\n|(?<=\.)\s/)[0] ?? "").replaceAll(/\s+/g, " ").trim();
  return (line === "" ? name : neutralize(line)).slice(0, 100).toWellFormed();
}

/** Only characters that every vendor accepts; a name that is too long ends in a part of its hash. */
function modelName(id: string, tool: string): string {
  const name = `${id}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 9)}_${sha256(tool).slice(0, 8)}`;
}

function isWanted(name: string, { config: { tools: { allow, deny = [] } = {} } }: McpServer): boolean {
  const fits = (entry: string): boolean => (entry.includes("*") ? globMatches(toGlob(entry), name) : entry === name);
  return (allow === undefined || allow.some(fits)) && !deny.some(fits);
}
