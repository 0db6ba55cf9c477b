// A DNS server on loopback that answers from a table; each question for a name takes the next answer of its list.
import { createSocket, type Socket } from "node:dgram";
import { isIP } from "node:net";

export interface FakeDns {
  /** For OPENCLAW_DNS_SERVER. */
  readonly address: string;
  /** Names in the order they were asked for, IPv4 questions only. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Addresses by name; a list of lists gives another answer each time, the last one from then on. `*.` matches any label. */
export type Zone = Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>;

export async function startFakeDns(zone: Zone): Promise<FakeDns> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const counts = new Map<string, number>();
  socket.on("message", (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    const key = zone[name] === undefined ? name.replace(/^[^.]+/, "*") : name;
    const turn = counts.get(`${type} ${name}`) ?? 0;
    counts.set(`${type} ${name}`, turn + 1);
    if (type === 1) asked.push(name);
    const found = answersAt(zone[key] ?? [], turn).filter((ip) => isIP(ip) === (type === 1 ? 4 : 6));
    socket.send(reply(question, end, type, found, zone[key] !== undefined), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  socket.unref();
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => closed(socket) };
}

function answersAt(entry: Zone[string], turn: number): readonly string[] {
  const [first] = entry;
  if (first === undefined || typeof first === "string") return entry as readonly string[];
  const lists = entry as readonly (readonly string[])[];
  return lists[Math.min(turn, lists.length - 1)] ?? [];
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, end: number, type: number, found: readonly string[], isKnown: boolean): Buffer {
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(found.length, 6);
  head.writeUInt32BE(0, 8);
  const records = found.map((ip) => {
    const data = type === 1 ? Buffer.from(ip.split(".").map(Number)) : bytesOfV6(ip);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function bytesOfV6(ip: string): Buffer {
  const [head = "", tail = ""] = ip.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const middle = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => "0");
  const all = [...groups(head), ...middle, ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}
