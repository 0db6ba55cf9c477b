// The sockets between the gateway and a browser in a sandbox: one out to the guard's proxy, one in to CDP.
import { closeSync, constants, fstatSync, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type NetConnectOpts, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Mount } from "../../exec/sandbox.ts";

/** Not in node:fs: opens the socket file itself, whatever its kind. */
const O_PATH = 0o10000000;

export interface BridgeSockets {
  /** Where the gateway reaches CDP; the sandbox does not see it. */
  readonly cdpSocket: string;
  readonly mounts: readonly Mount[];
  /** Before the browser starts: its requests arrive at this port. */
  listen(proxyPort: number): Promise<void>;
  close(): void;
}

/** In the temporary folder, because the path of a socket has at most 107 characters. */
export function createBridgeSockets(): BridgeSockets {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-browser-"));
  const [own, out, inside] = ["own", "out", "in"].map((name) => join(folder, name)) as [string, string, string];
  for (const one of [own, out, inside]) mkdirSync(one, { mode: 0o700 });
  const cdpSocket = join(own, "cdp.sock");
  const servers: Server[] = [];
  return {
    cdpSocket,
    mounts: [
      { inside: "/run/openclaw/out", host: out, writable: false },
      { inside: "/run/openclaw/in", host: inside, writable: true },
    ],
    async listen(proxyPort) {
      for (const server of servers.splice(0)) server.close();
      rmSync(join(inside, "cdp.sock"), { force: true });
      servers.push(
        await forward(join(out, "proxy.sock"), () => ({ options: { host: "127.0.0.1", port: proxyPort } })),
        await forward(cdpSocket, () => socketIn(join(inside, "cdp.sock"))),
      );
    },
    close() {
      for (const server of servers.splice(0)) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Target {
  readonly options: NetConnectOpts;
  readonly release?: () => void;
}

/** The sandbox can write to this folder: a link there must not lead the gateway to another socket of this machine. */
function socketIn(path: string): Target {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  const release = (): void => closeSync(fd);
  if (fstatSync(fd).isSocket()) return { options: { path: `/proc/self/fd/${fd}` }, release };
  release();
  throw new Error(`${path} is not a socket`);
}

/** Connects every client of a socket with a target. */
function forward(path: string, open: () => Target): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((client) => {
    client.on("error", () => client.destroy());
    let target: Target;
    try {
      target = open();
    } catch (error) {
      // The browser does not listen yet, or what it left there is not a socket.
      client.destroy(error instanceof Error ? error : undefined);
      return;
    }
    const remote = connect(target.options);
    remote.once("close", () => target.release?.());
    remote.on("error", () => client.destroy());
    remote.once("close", () => client.destroy());
    client.once("close", () => remote.destroy());
    client.pipe(remote).pipe(client);
  });
  server.unref();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
