// Packets of multicast DNS: what a gateway answers, and what is read from others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode } from "dns-packet";
import fc from "fast-check";

import {
  announcementOf,
  answerTo,
  gatewaysIn,
  parsePacket,
  questionOf,
  SERVICE,
  type GatewayService,
} from "./service.ts";

const service: GatewayService = {
  name: "OpenClaw attic 18789",
  host: "attic.local",
  port: 18_789,
  text: { role: "gateway", displayName: "attic" },
};

test("an announcement is read as the gateway it describes", () => {
  const packet = parsePacket(announcementOf(service, "192.0.2.7"));
  assert.deepEqual(packet && gatewaysIn(packet), [{ ...service, addresses: ["192.0.2.7"] }]);
});

test("a goodbye describes no gateway", () => {
  const packet = parsePacket(announcementOf(service, "192.0.2.7", 0));
  assert.deepEqual(packet && gatewaysIn(packet), []);
});

test("answers questions for the service in any case of letters, and no others", () => {
  const answer = answerTo(decode(questionOf()), service, "192.0.2.7");
  assert.deepEqual(answer && gatewaysIn(answer).map(({ port }) => port), [18_789]);
  const ask = (name: string) =>
    answerTo(decode(encode({ type: "query", questions: [{ type: "PTR", name }] })), service, "");
  assert.notEqual(ask(SERVICE.toUpperCase()), undefined);
  assert.equal(ask("_http._tcp.local"), undefined);
});

test("never answers a response", () => {
  assert.equal(answerTo(decode(announcementOf(service, "192.0.2.7")), service, "192.0.2.8"), undefined);
});

test("lists the service type", () => {
  const all = encode({ type: "query", questions: [{ type: "PTR", name: "_services._dns-sd._udp.local" }] });
  const [first] = answerTo(decode(all), service, "192.0.2.7")?.answers ?? [];
  assert.deepEqual([first?.type, first && "data" in first && first.data], ["PTR", SERVICE]);
});

test("any bytes are a packet or nothing, and end", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 600 }),
    fc.tuple(fc.nat(), fc.nat(255)).map(([at, value]) => {
      const packet = announcementOf(service, "192.0.2.7");
      packet[at % packet.length] = value;
      return packet;
    }),
  );
  fc.assert(
    fc.property(bytes, (one) => {
      const packet = parsePacket(Buffer.from(one));
      if (packet === undefined) return;
      for (const { port } of gatewaysIn(packet)) assert.ok(Number.isInteger(port));
      answerTo(packet, service, "192.0.2.7");
    }),
    { numRuns: 3000 },
  );
});
