// Announces the gateway on the local network, so that apps and `openclaw gateway discover` find it.
import type { Socket } from "node:dgram";
import { hostname } from "node:os";
import { encode } from "dns-packet";

import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/schema/index.ts";
import { GROUP, openMulticast, PORT, type Interface } from "./multicast.ts";
import { announcementOf, answerTo, parsePacket, type GatewayService } from "./service.ts";

export interface Announcer {
  /** Says goodbye and closes the sockets. */
  close(): Promise<void>;
}

const REPEAT_MS = 1000;
const GOODBYE_SECONDS = 0;

export async function announce(
  service: GatewayService,
  interfaces: readonly Interface[],
  log: Log,
): Promise<Announcer> {
  const opened: { readonly socket: Socket; readonly address: string }[] = [];
  for (const one of interfaces) {
    try {
      const socket = await openMulticast(one, PORT);
      socket.on("error", (error) => log.warn(`mDNS on ${one.address}: ${error.message}`));
      answerQuestions(socket, service, one, log);
      opened.push({ socket, address: one.address });
    } catch (error) {
      log.warn(`mDNS on ${one.address}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const tell = (ttl?: number): Promise<unknown> =>
    Promise.all(opened.map(({ socket, address }) => send(socket, announcementOf(service, address, ttl), GROUP, PORT)));
  const report = (error: unknown): void => log.warn(`mDNS announcement: ${String(error)}`);
  await tell().catch(report);
  // Packets get lost: RFC 6762 asks for two announcements.
  const again = setTimeout(() => void tell().catch(report), REPEAT_MS);
  again.unref();
  return {
    async close() {
      clearTimeout(again);
      await tell(GOODBYE_SECONDS).catch(report);
      await Promise.all(opened.map(({ socket }) => new Promise<void>((resolve) => socket.close(() => resolve()))));
    },
  };
}

/** Answers neighbors only: an answer to a forged address elsewhere would attack it. */
function answerQuestions(socket: Socket, service: GatewayService, { address, isNear }: Interface, log: Log): void {
  let toldAt = -Infinity;
  socket.on("message", (bytes, from) => {
    if (!isNear(from.address)) return;
    const question = parsePacket(bytes);
    const answer = question && answerTo(question, service, address);
    if (question === undefined || answer === undefined) return;
    const isDirect = from.port !== PORT;
    const now = performance.now();
    if (!isDirect && now - toldAt < REPEAT_MS) return;
    if (!isDirect) toldAt = now;
    // A program that asks from a port of its own expects its id and question in the answer.
    const packet = isDirect ? { ...answer, id: question.id ?? 0, questions: question.questions ?? [] } : answer;
    const to = isDirect ? from : { address: GROUP, port: PORT };
    send(socket, encode(packet), to.address, to.port).catch((error: unknown) =>
      log.warn(`mDNS answer: ${String(error)}`),
    );
  });
}

function send(socket: Socket, bytes: Buffer, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) =>
    socket.send(bytes, port, address, (error) => (error ? reject(error) : resolve())),
  );
}

export interface GatewayFacts {
  readonly port: number;
  /** Path of the command line, for `full`. */
  readonly cliPath: string;
  readonly canvasPort?: number | undefined;
  readonly tlsSha256?: string | undefined;
}

/** What the owner lets others see: `minimal` leaves out what helps only somebody who logs in to the machine. */
export function serviceOf(config: Config, { port, cliPath, canvasPort, tlsSha256 }: GatewayFacts): GatewayService {
  const label =
    hostname()
      .split(".")[0]
      ?.replace(/[^A-Za-z0-9-]/g, "-")
      .slice(0, 40) || "gateway";
  const host = `${label}.local`;
  const isFull = config.discovery?.mdns?.mode === "full";
  return {
    name: `OpenClaw ${label} ${port}`,
    host,
    port,
    text: {
      role: "gateway",
      transport: "gateway",
      displayName: label,
      lanHost: host,
      gatewayPort: String(port),
      ...(tlsSha256 === undefined ? {} : { gatewayTls: "1", gatewayTlsSha256: tlsSha256 }),
      ...(canvasPort === undefined ? {} : { canvasPort: String(canvasPort) }),
      ...(isFull ? { sshPort: "22", cliPath } : {}),
    },
  };
}
