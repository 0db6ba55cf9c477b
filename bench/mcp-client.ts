// Tools of MCP servers: one call against the official SDK client, the size of a request with 200 tools, the cost while unused.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { openRuntime } from "../src/app/runtime.ts";
import { resolvePaths } from "../src/base/paths.ts";
import { loadConfig } from "../src/config/load.ts";
import { createPins } from "../src/mcp/client/pins.ts";
import { parseRemoteTool } from "../src/mcp/client/remote-tool.ts";
import { identityOf } from "../src/mcp/client/servers.ts";
import { subjectOf } from "../src/tool/subject.ts";
import { tempHome } from "../test/harness/gateway.ts";
import { fakeStdio, stdioServer } from "../test/harness/mcp-client.ts";
import { atMost, median, type Row } from "./table.ts";
import { benchUnused } from "./unused.ts";

const CALLS = 150;
const ROUNDS = 20;
const TOOLS = 200;

export async function benchMcpClient(): Promise<Row[]> {
  return [...(await benchCall()), ...(await benchUnusedServers())];
}

/**
 * The time from the call to its result, in this process, without HTTP on either side. Ours decides policy, checks arguments
 * and the approved description, bounds, redacts and marks the result, and hands the journal entry to the store, which commits
 * it with the next write: in a turn the result of the call, here nothing, so that the commit is not in the figure. One of each in
 * turn, so that both meet the same machine; each has a process of the same server.
 */
export async function benchCall(): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), "openclaw-bench-"));
  const env = { HOME: home, PATH: process.env["PATH"] };
  const paths = resolvePaths(env);
  mkdirSync(paths.state, { recursive: true });
  writeFileSync(paths.config, JSON.stringify({ mcp: { servers: { fake: fakeStdio() } } }));
  const loaded = loadConfig({ paths, env });
  const runtime = await openRuntime({ paths, env, loaded, consoleLevel: "silent" });
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: ["--no-warnings", stdioServer], stderr: "ignore" }),
  );
  const subject = subjectOf({}, loaded.config);
  // As in a turn of an agent, which stores the result itself.
  const ours = (tool: string, args: object) => () =>
    runtime.callTool({ tool: `fake__${tool}`, args, subject, caller: "agent", commitsResult: true });
  const theirs = (name: string, args: Record<string, unknown>) => () => client.callTool({ name, arguments: args });
  try {
    const args = { a: 1, b: 2 };
    const journaled = await compare(ours("sum", args), theirs("sum", args), 2);
    const { own, sdk } = await compare(ours("echo", { text: "hello" }), theirs("echo", { text: "hello" }), ROUNDS);
    const note = `${own.toFixed(3)} ms; SDK ${sdk.toFixed(3)} ms; a tool with effects, on disk before it runs, ${journaled.own.toFixed(2)} ms`;
    return [atMost("a tool of a stdio MCP server, against the SDK client", own / sdk, 1.3, "x", note)];
  } finally {
    await client.close();
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The best of several medians: other work on the machine only ever adds. */
async function compare(
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  rounds: number,
): Promise<{ readonly own: number; readonly sdk: number }> {
  const [own, sdk]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [mine, bare]: [number[], number[]] = [[], []];
    for (let at = 0; at < CALLS; at++) {
      bare.push(await timed(theirs));
      mine.push(await timed(ours));
    }
    own.push(median(mine));
    sdk.push(median(bare));
  }
  return { own: Math.min(...own), sdk: Math.min(...sdk) };
}

/** Two servers, one of them with approved tools. */
function benchUnusedServers(): Promise<Row[]> {
  const server = fakeStdio({ env: { FAKE_MANY: String(TOOLS) } });
  const tools = Array.from({ length: TOOLS }, (_, at) =>
    parseRemoteTool({
      name: `tool_${at}`,
      description: "A tool.".repeat(20),
      inputSchema: { type: "object", properties: { a: {} } },
    }),
  ).filter((tool) => tool !== undefined);
  const on = () => {
    const home = tempHome();
    createPins(join(home, ".openclaw")).approve("fake", identityOf(server), tools);
    return { home, config: { mcp: { servers: { fake: server, web: { url: "https://mcp.example.com/mcp" } } } } };
  };
  return benchUnused("MCP servers", () => ({ config: {} }), on);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
