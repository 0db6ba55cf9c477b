// The DNS-SD records of a gateway (RFC 6763): which service it is and what its TXT record says. Pure.
import { decode, encode, type Answer, type Packet } from "dns-packet";

export const SERVICE = "_openclaw-gw._tcp.local";
const ALL_SERVICES = "_services._dns-sd._udp.local";
const SECONDS = 120;
const MAX_TEXT = 200;

/** A gateway as it announces itself. */
export interface GatewayService {
  /** One label: letters, digits, spaces and hyphens. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly text: Readonly<Record<string, string>>;
}

/** A gateway as somebody announced it. Anyone on the network can claim anything: show it, never trust it. */
export interface FoundGateway extends GatewayService {
  readonly addresses: readonly string[];
}

export function recordsOf(service: GatewayService, address: string, ttl = SECONDS): Answer[] {
  const instance = `${service.name}.${SERVICE}`;
  const text = Object.entries(service.text).map(([key, value]) => `${key}=${value}`.slice(0, MAX_TEXT));
  return [
    { type: "PTR", name: SERVICE, ttl, data: instance },
    { type: "SRV", name: instance, ttl, flush: true, data: { port: service.port, target: service.host } },
    { type: "TXT", name: instance, ttl, flush: true, data: text },
    { type: "A", name: service.host, ttl, flush: true, data: address },
  ];
}

export function announcementOf(service: GatewayService, address: string, ttl?: number): Buffer {
  return encode({ type: "response", flags: AUTHORITATIVE, answers: recordsOf(service, address, ttl) });
}

const AUTHORITATIVE = 0x0400;

/** The answer to a packet, or undefined when it asks for nothing of this gateway. */
export function answerTo(question: Packet, service: GatewayService, address: string): Packet | undefined {
  if (question.type !== "query") return undefined;
  const records = recordsOf(service, address);
  const names = new Set([...records.map(({ name }) => name.toLowerCase()), ALL_SERVICES]);
  const asked = (question.questions ?? []).filter(({ name }) => names.has(name.toLowerCase()));
  if (asked.length === 0) return undefined;
  const listed: Answer[] = asked.some(({ name }) => name.toLowerCase() === ALL_SERVICES)
    ? [{ type: "PTR", name: ALL_SERVICES, ttl: SECONDS, data: SERVICE }]
    : [];
  return { type: "response", flags: AUTHORITATIVE, answers: [...listed, ...records] };
}

export function questionOf(): Buffer {
  return encode({ type: "query", questions: [{ type: "PTR", name: SERVICE, class: "IN" }] });
}

/** Undefined for bytes that are no DNS packet. */
export function parsePacket(bytes: Buffer): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined; // anyone on the network can send anything
  }
}

/** The gateways that one packet describes completely. */
export function gatewaysIn({ answers = [], additionals = [] }: Packet): FoundGateway[] {
  const records = [...answers, ...additionals];
  const suffix = `.${SERVICE}`;
  return records.flatMap((record) => {
    if (record.type !== "SRV" || !record.name.endsWith(suffix) || record.ttl === 0) return [];
    const { port, target } = record.data;
    const addresses = records.flatMap((one) => (one.type === "A" && one.name === target ? [one.data] : []));
    const lines = records.flatMap((one) =>
      one.type === "TXT" && one.name === record.name ? [one.data].flat().map(String) : [],
    );
    return [{ name: record.name.slice(0, -suffix.length), host: target, port, addresses, text: parseText(lines) }];
  });
}

function parseText(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf("=");
      return at <= 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}
