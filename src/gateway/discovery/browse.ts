// Asks the local network which gateways there are.
import type { Socket } from "node:dgram";
import { setTimeout as delay } from "node:timers/promises";

import { GROUP, openMulticast, PORT, type Interface } from "./multicast.ts";
import { gatewaysIn, parsePacket, questionOf, type FoundGateway } from "./service.ts";

const MAX_FOUND = 200;

/** Waits the whole time, because nobody knows how many answer. */
export async function browse(interfaces: readonly Interface[], ms: number): Promise<FoundGateway[]> {
  const found = new Map<string, FoundGateway>();
  const sockets = await Promise.all(interfaces.map((one) => openMulticast(one, 0)));
  try {
    for (const [index, socket] of sockets.entries()) {
      socket.on("message", (bytes, from) => {
        const packet = interfaces[index]?.isNear(from.address) === true ? parsePacket(bytes) : undefined;
        for (const gateway of packet === undefined ? [] : gatewaysIn(packet))
          if (found.size < MAX_FOUND) found.set(`${gateway.name} ${gateway.host}`, gateway);
      });
    }
    // Asked twice, because packets get lost.
    for (let round = 0; round < 2; round++) {
      await Promise.all(sockets.map(ask));
      await delay(ms / 2);
    }
  } finally {
    for (const socket of sockets) socket.close();
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}

function ask(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) =>
    socket.send(questionOf(), PORT, GROUP, (error) => (error ? reject(error) : resolve())),
  );
}
