// MCP tools/call of a tool that does no work, against POST /tools/invoke, in a session and without one; memory of its first use.
import { readFileSync } from "node:fs";

import { dispose, startGateway, type TestGateway } from "../test/harness/gateway.ts";
import { loadHttp, type HttpTarget } from "./load.ts";
import { benchMcpClient } from "./mcp-client.ts";
import { atMost, median, type Row } from "./table.ts";

const META = "io.modelcontextprotocol/";
const TOOL = "agents_list";

export async function benchMcp(): Promise<Row[]> {
  return [...(await benchServer()), ...(await benchMcpClient())];
}

async function benchServer(): Promise<Row[]> {
  const gateway = await startGateway({ config: { gateway: { http: { endpoints: { mcp: { enabled: true } } } } } });
  try {
    await loadHttp(invokeTarget(gateway), 1, 500);
    const before = residentMb(gateway.pid);
    const targets = await targetsOf(gateway);
    const first = residentMb(gateway.pid) - before;
    const times = { invoke: [] as number[], stateless: [] as number[], session: [] as number[] };
    for (let round = 0; round < 7; round++)
      for (const name of ["invoke", "stateless", "session"] as const)
        times[name].push(median((await loadHttp(targets[name], 1, 500)).latencies));
    const invoke = median(times.invoke);
    const row = (what: string, name: "stateless" | "session"): Row => {
      const ours = median(times[name]);
      const note = `${ours.toFixed(2)} ms; /tools/invoke ${invoke.toFixed(2)} ms`;
      return atMost(`MCP tools/call ${what}, against /tools/invoke`, ours / invoke, 2, "x", note);
    };
    return [
      row("without a session (2026-07-28)", "stateless"),
      row("in a session (2025-11-25)", "session"),
      atMost("resident memory of the first MCP request", first, 5, " MB"),
    ];
  } finally {
    await dispose(gateway);
  }
}

const headersOf = ({ token }: TestGateway): Record<string, string> => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${token}`,
});

function invokeTarget(gateway: TestGateway): HttpTarget {
  const body = JSON.stringify({ tool: TOOL, args: {} });
  return { port: gateway.port, path: "/tools/invoke", headers: headersOf(gateway), body };
}

async function targetsOf(gateway: TestGateway): Promise<Record<"invoke" | "stateless" | "session", HttpTarget>> {
  const { url, port } = gateway;
  const headers = headersOf(gateway);
  const rpc = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const revision = "2025-11-25";
  const opened = await fetch(`${url}/mcp`, {
    method: "POST",
    headers,
    body: rpc("initialize", {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    }),
  });
  const session = opened.headers.get("mcp-session-id") ?? "";
  await opened.text();
  const meta = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} };
  return {
    invoke: invokeTarget(gateway),
    stateless: {
      port,
      path: "/mcp",
      headers: { ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": TOOL },
      body: rpc("tools/call", { name: TOOL, arguments: {}, _meta: meta }),
    },
    session: {
      port,
      path: "/mcp",
      headers: { ...headers, "mcp-protocol-version": revision, "mcp-session-id": session },
      body: rpc("tools/call", { name: TOOL, arguments: {} }),
    },
  };
}

function residentMb(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 1e6;
}
