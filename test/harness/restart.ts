// What tests of starts and restarts share: the config file, whether a gateway answers, and a port somebody else holds.
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import type { TestGateway } from "./gateway.ts";

export const configFile = ({ state }: Pick<TestGateway, "state">): string => join(state, "openclaw.json");

export const isUp = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/health`).catch(() => undefined))?.ok === true;

export interface HeldPort {
  readonly port: number;
  free(): Promise<void>;
}

/** Listens on loopback, on a free port unless one is named. */
export async function holdPort(port = 0): Promise<HeldPort> {
  // A socket that is not read would keep the server from closing.
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  return {
    port: (server.address() as AddressInfo).port,
    free: () => new Promise((closed) => server.close(() => closed())),
  };
}
