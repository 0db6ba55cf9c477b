// Repair mode: the gateway does nothing but say why it could not start, until the config changes or a stop comes.
import type { Server } from "node:http";

import { OpenClawError } from "../core/error.ts";
import { readParts } from "../config/parts.ts";
import { getAt } from "../config/path.ts";
import { watchConfig } from "../config/watch.ts";
import { DEFAULT_PORT } from "../gateway/bind.ts";
import { reasonOf } from "./start-failures.ts";
import type { Started, StartContext } from "./start.ts";

/** How often a cause outside the config (a taken port) is looked at again. */
const LOOK_AGAIN_MS = 30_000;

/** Undefined when it was stopped. Reads only: no store, no agents, no tools. */
export async function waitForCure(
  room: StartContext,
  first: unknown,
  start: () => Promise<Started>,
): Promise<Started | undefined> {
  let error = first;
  const stopped = onceStopped();
  try {
    for (;;) {
      say(`repair mode, nothing runs: ${reasonOf(error)}`);
      const sign = await openSign(room, error);
      const cause = await Promise.race([stopped.signal, mayHaveChanged(room)]);
      await sign?.close();
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

interface Sign {
  close(): Promise<void>;
}

/** Loopback only, whatever the config says; nobody needs a secret to read it, so it holds none. */
function openSign(room: StartContext, error: unknown): Promise<Sign | undefined> {
  const { options } = room;
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
  const port = options.port ?? writtenPort(room) ?? DEFAULT_PORT;
  return new Promise((resolve) => {
    // The port may be what is wrong: then there is no sign, and the log has the reason.
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

/** Where people look for it, also when the rest of the config cannot be read as one. */
function writtenPort({ paths, options: { env } }: StartContext): number | undefined {
  const port = Number(env["OPENCLAW_GATEWAY_PORT"] ?? getAt(readParts({ paths, env }).parsed, ["gateway", "port"]));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

function mayHaveChanged({ paths }: StartContext): Promise<"changed"> {
  return new Promise((resolve) => {
    const done = (): void => {
      watcher.close();
      clearTimeout(timer);
      resolve("changed");
    };
    const watcher = watchConfig({ files: [paths.config], debounceMs: 300, onChange: done });
    const timer = setTimeout(done, LOOK_AGAIN_MS);
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

function say(words: string): void {
  process.stderr.write(`${new Date().toISOString()} ${words}\n`);
}
