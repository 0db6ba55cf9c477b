// Runs the official MCP conformance suite (fetched by npx) against the sample gateway, for each revision that /mcp agrees to.
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

import { openSampleGateway, type SampleGateway } from "./mcp-sample.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** Frozen requirements where the suite has them, else every scenario of the revision; further ones are ahead of a requirement. */
export const suiteRuns: readonly {
  readonly title: string;
  readonly options: readonly string[];
  /** How many kinds of checks must pass at least: a suite that ran nothing has no failures either. */
  readonly passes: number;
}[] = [
  { title: "2025-03-26", options: ["--spec-version", "2025-03-26"], passes: 3 },
  { title: "2025-06-18", options: ["--spec-version", "2025-06-18"], passes: 26 },
  { title: "2025-11-25", options: ["--requirements", "2025-11-25"], passes: 40 },
  { title: "2025-11-25, all scenarios", options: ["--spec-version", "2025-11-25", "--suite", "all"], passes: 40 },
  { title: "2026-07-28", options: ["--requirements", "2026-07-28"], passes: 70 },
];

/** Extensions that this server does not announce; the suite runs them and does not count them. */
const extensions = /^(?:tasks-|sep-2640-)/;

export interface SuiteCheck {
  readonly scenario: string;
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

export async function openSuite(): Promise<{
  run(options: readonly string[]): Promise<SuiteCheck[]>;
  close(): Promise<void>;
}> {
  const gateway = await openSampleGateway();
  const proxy = await openProxy(gateway);
  const { port } = proxy.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
  let runs = 0;
  return {
    async run(options) {
      const results = join(folder, String(++runs));
      await npx([SUITE, "server", "--url", `http://127.0.0.1:${port}/mcp`, "-o", results, ...options]);
      return globSync("*/checks.json", { cwd: results })
        .flatMap((file) => {
          const scenario = basename(dirname(file)).replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, "$1");
          const checks = JSON.parse(readFileSync(join(results, file), "utf8")) as SuiteCheck[];
          return checks.map((check) => ({ ...check, scenario }));
        })
        .filter(({ scenario }) => !extensions.test(scenario));
    },
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      await gateway.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The suite sends no secret, and cannot cut its own connection while a call runs: both are done on the way. */
async function openProxy({ url, token }: SampleGateway): Promise<Server> {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method, url: path, headers } = incoming;
      const body = Buffer.concat(chunks);
      const isCut = body.includes("test_reconnection");
      const passed = request(
        { host: hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${token}` } },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          outgoing.flushHeaders();
          answer.on("data", (chunk: Buffer) => {
            outgoing.write(chunk);
            if (!isCut) return;
            outgoing.end();
            passed.destroy();
          });
          answer.on("end", () => outgoing.end());
          answer.on("error", () => outgoing.end());
        },
      );
      passed.on("error", () => outgoing.destroy());
      outgoing.on("close", () => passed.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** With the Node of the tests. Its exit code says only what the checks say. */
async function npx(words: readonly string[]): Promise<void> {
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn("npx", ["--yes", ...words], {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 300_000,
    env: { ...process.env, PATH: path },
  });
  await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
}
