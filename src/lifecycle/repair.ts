// Repair mode: the gateway only reports why it could not start, until the config changes or a signal stops it.
import type { Server } from "node:http";

import type { Env, Paths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { readParts } from "../config/parts.ts";
import { getAt } from "../config/path.ts";
import { watchConfig } from "../config/watch.ts";
import { DEFAULT_PORT } from "../gateway/bind.ts";
import { reasonOf } from "./start-failures.ts";

export interface RepairContext {
  readonly paths: Paths;
  readonly options: { readonly env: Env; readonly port?: number | undefined };
}

/** How often it tries again for causes outside the config, such as a port in use. */
const RETRY_MS = 30_000;

/** Returns undefined when a signal stopped it. Reads only: no store, no agents, no tools. */
export async function waitForRepair<T>(
  context: RepairContext,
  first: unknown,
  start: () => Promise<T>,
): Promise<T | undefined> {
  let error = first;
  const stopped = onceStopped();
  try {
    for (;;) {
      print(`repair mode, the gateway did not start: ${reasonOf(error)}`);
      const page = await openStatusPage(context, error);
      const cause = await Promise.race([stopped.signal, mayHaveChanged(context)]);
      await page?.close();
      if (cause === "stopped") return undefined;
      try {
        return await start();
      } catch (again) {
        error = again;
      }
    }
  } finally {
    stopped.release();
  }
}

interface StatusPage {
  close(): Promise<void>;
}

/** On loopback only, whatever the config says: it is readable without a secret and contains none. */
function openStatusPage(context: RepairContext, error: unknown): Promise<StatusPage | undefined> {
  const { options } = context;
  const body = JSON.stringify({
    ok: false,
    repair: true,
    reason: error instanceof OpenClawError ? error.code : "gateway.failed",
    message: "the gateway could not start; see its log",
    hint: "openclaw doctor",
  });
  const head = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };
  const server: Server = process.getBuiltinModule("node:http").createServer((_request, response) => {
    response.writeHead(503, { ...head, connection: "close" }).end(body);
  });
  server.on("upgrade", (_request, socket) =>
    socket.end("HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n"),
  );
  const port = options.port ?? writtenPort(context) ?? DEFAULT_PORT;
  return new Promise((resolve) => {
    // The port may be the problem itself; then only the log has the reason.
    server.once("error", () => resolve(undefined));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () =>
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      }),
    );
  });
}

/** The configured port, also when the rest of the config is invalid. */
function writtenPort({ paths, options: { env } }: RepairContext): number | undefined {
  const port = Number(env["OPENCLAW_GATEWAY_PORT"] ?? getAt(readParts({ paths, env }).parsed, ["gateway", "port"]));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

function mayHaveChanged({ paths }: RepairContext): Promise<"changed"> {
  return new Promise((resolve) => {
    const done = (): void => {
      watcher.close();
      clearTimeout(timer);
      resolve("changed");
    };
    const watcher = watchConfig({ files: [paths.config], debounceMs: 300, onChange: done });
    const timer = setTimeout(done, RETRY_MS);
  });
}

function onceStopped(): { readonly signal: Promise<"stopped">; release(): void } {
  const { promise, resolve } = Promise.withResolvers<"stopped">();
  const stop = (): void => resolve("stopped");
  const names = ["SIGTERM", "SIGINT"] as const;
  for (const name of names) process.on(name, stop);
  return {
    signal: promise,
    release() {
      for (const name of names) process.off(name, stop);
    },
  };
}

function print(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}
