// A remote browser behind a proxy that asks for a token and Basic credentials: attached to, never started or stopped.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { findProgram } from "../../harness/program.ts";

const secret = "cdp-secret-token-0123456789";

describe("remote browser", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let chromium: ChildProcess;
  let proxy: Server;
  let folder: string;
  const seen: string[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "openclaw-remote-"));
    chromium = spawn(
      findProgram("chromium") ?? "chromium",
      ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    proxy = await startProxy(await debuggingPort(chromium), seen);
    const { port } = proxy.address() as AddressInfo;
    // Every address but loopback is remote; this one reaches the same machine.
    const cdpUrl = `http://ann:pw@0.0.0.0:${port}?token=${secret}`;
    ground = await startBrowserGround({ browser: { profiles: { far: { cdpUrl } } } });
  });
  after(async () => {
    await ground?.close();
    proxy?.closeAllConnections();
    proxy?.close();
    chromium?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  test("the token and the credentials of cdpUrl reach the discovery and the WebSocket", async () => {
    const tabs = await ground.browser({ action: "tabs", profile: "far" });
    assert.ok(tabs.ok, JSON.stringify(tabs));
    assert.equal(tabs.details["running"], true);
    assert.ok(seen.includes("GET /json/version admitted"), seen.join("\n"));
    assert.ok(
      seen.some((line) => /^upgrade \/devtools\/browser\/\S+ admitted$/.test(line)),
      seen.join("\n"),
    );
    assert.ok(!seen.some((line) => line.endsWith("refused")), seen.join("\n"));
  });

  test("no answer shows the token or the credentials", async () => {
    for (const action of ["status", "profiles", "tabs"]) {
      const { text, details } = await ground.browser({ action, ...(action === "profiles" ? {} : { profile: "far" }) });
      const shown = `${text} ${JSON.stringify(details)}`;
      assert.ok(!shown.includes(secret) && !shown.includes("ann:pw"), shown);
    }
  });

  test("start, stop and reset are refused and leave it running", async () => {
    for (const action of ["start", "stop", "reset-profile"]) {
      const { error } = await ground.browser({ action, profile: "far" });
      assert.equal(error?.code, "browser.remote-profile", action);
    }
    assert.equal(chromium.exitCode, null);
  });
});

/** Forwards to the debugging port; refuses whoever lacks the token or the credentials. */
async function startProxy(port: number, seen: string[]): Promise<Server> {
  const isAdmitted = ({ url = "", headers }: IncomingMessage): boolean =>
    new URL(url, "http://any").searchParams.get("token") === secret &&
    headers.authorization === `Basic ${Buffer.from("ann:pw").toString("base64")}`;
  const record = (what: string, request: IncomingMessage): boolean => {
    const admitted = isAdmitted(request);
    seen.push(`${what} ${request.url?.split("?")[0]} ${admitted ? "admitted" : "refused"}`);
    return admitted;
  };
  const server = createServer((request, response) => {
    if (!record(request.method ?? "", request)) return void response.writeHead(401).end();
    const headers = { host: request.headers.host };
    httpRequest({ port, host: "127.0.0.1", path: request.url?.split("?")[0], headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on("upgrade", (request, socket, head) => {
    if (!record("upgrade", request)) return void socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    const upstream = connect(port, "127.0.0.1", () => {
      const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      upstream.write(`GET ${request.url?.split("?")[0]} HTTP/1.1\r\n${lines.join("")}\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function debuggingPort(chromium: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    chromium.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(output)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    chromium.once("exit", () => reject(new Error(output)));
  });
}
