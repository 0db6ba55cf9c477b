// Runs the official MCP conformance suite against POST /mcp of a fresh gateway, once for each revision we agree to.
// The suite is fetched by npx, so this is no part of the tests: node scripts/with-node24.mjs scripts/mcp-conformance.ts
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { dispose, freePort, startGateway } from "../test/harness/gateway.ts";

const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const runs = [
  ["2025-03-26", "--spec-version", "2025-03-26"],
  ["2025-06-18", "--spec-version", "2025-06-18"],
  ["2025-11-25", "--spec-version", "2025-11-25"],
  ["2026-07-28", "--requirements", "2026-07-28"],
] as const;

/** The suite calls tools of a sample server in these, or asks for a capability that we do not announce. */
const notOffered =
  /^(?:tools-call-|resources-|prompts-|completion-|logging-|elicitation-|input-required-|tasks-|json-schema-|http-custom-header-)/;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: { readonly untestable?: boolean };
}

const gateway = await startGateway({ config: { gateway: { http: { endpoints: { mcp: { enabled: true } } } } } });
const port = await freePort();
const door = await withSecret(port);
const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
try {
  for (const [revision, ...options] of runs) await runSuite(revision, options);
} finally {
  door.close();
  await dispose(gateway);
  rmSync(folder, { recursive: true });
}

async function runSuite(revision: string, options: readonly string[]): Promise<void> {
  const results = join(folder, revision);
  const url = `http://127.0.0.1:${port}/mcp`;
  const code = await run(["--yes", suite, "server", "--url", url, "-o", results, ...options]);
  const checks = globSync("*/checks.json", { cwd: results }).flatMap((file) =>
    (JSON.parse(readFileSync(join(results, file), "utf8")) as Check[]).map((check) => ({
      ...check,
      scenario: basename(dirname(file)).replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, "$1"),
    })),
  );
  const failed = checks.filter(({ status }) => status === "FAILURE");
  const ours = failed.filter((check) => !isNotOffered(check));
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  console.log(
    `${revision}: ${passed} passed, ${failed.length - ours.length} of what is not offered, ${ours.length} failed`,
  );
  for (const { scenario, id, errorMessage } of ours) console.log(`  ${scenario} ${id}: ${errorMessage}`);
  // Without results the suite itself did not run.
  if (ours.length > 0 || checks.length === 0 || code === null) process.exitCode = 1;
}

/** What we send must fit the schema of the revision in every scenario. */
function isNotOffered({ scenario, id, errorMessage = "", details }: Check & { readonly scenario: string }): boolean {
  if (id.startsWith("wire-schema")) return false;
  return (
    notOffered.test(scenario) ||
    details?.untestable === true ||
    /-32601: unknown method: (?:prompts|resources)\//.test(errorMessage)
  );
}

/** The suite sends no secret. */
async function withSecret(listenOn: number): Promise<ReturnType<typeof createServer>> {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const target = { host: "127.0.0.1", port: gateway.port, method, path };
    const passed = request(
      { ...target, headers: { ...headers, authorization: `Bearer ${gateway.token}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", (error) => outgoing.destroy(error));
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(listenOn, "127.0.0.1", resolve));
  return server;
}

function run(words: readonly string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn("npx", words, { stdio: ["ignore", "ignore", "inherit"], timeout: 300_000 });
    child.on("error", reject);
    child.on("exit", resolve);
  });
}
