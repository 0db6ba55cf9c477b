// UDP sockets for multicast DNS (RFC 6762), one for each network interface.
import { createSocket, type Socket } from "node:dgram";
import { BlockList, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";

import type { Env } from "../../base/paths.ts";

export const GROUP = "224.0.0.251";
export const PORT = 5353;

export interface Interface {
  readonly address: string;
  /** Whether an address belongs to the network of this interface. */
  readonly isNear: (address: string) => boolean;
}

/** `OPENCLAW_MDNS_INTERFACE` limits it to one address, such as 127.0.0.1. */
export function interfacesOf(env: Env): Interface[] {
  const only = env["OPENCLAW_MDNS_INTERFACE"];
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal, address }) => family === "IPv4" && (only === undefined ? !internal : address === only))
    .map(({ address, cidr }) => {
      const near = new BlockList();
      near.addSubnet(address, Number(cidr?.split("/")[1] ?? 32), "ipv4");
      return { address, isNear: (other) => isIPv4(other) && near.check(other, "ipv4") };
    });
}

/** `port` 0: a port of its own, for questions that are answered directly. */
export async function openMulticast({ address }: Interface, port: number): Promise<Socket> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, "0.0.0.0", () => {
      socket.off("error", reject);
      resolve();
    });
  });
  try {
    if (port !== 0) socket.addMembership(GROUP, address);
    socket.setMulticastInterface(address);
    socket.setMulticastTTL(255);
    socket.setMulticastLoopback(true);
  } catch (error) {
    socket.close();
    throw error;
  }
  return socket;
}
