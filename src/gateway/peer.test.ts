// The origin of a connection cannot be forged: addresses, proxies, hosts and origins.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import fc from "fast-check";

import { foldAddress, isFromElsewhere, isOurHost, isOurOrigin, peerOf } from "./peer.ts";

const rules = { trustedProxies: ["10.0.0.2"], allowedHosts: ["claw.example"], allowedOrigins: ["https://ui.example"] };
const ask = (remoteAddress: string, headers: Record<string, string>, more: object = {}): IncomingMessage =>
  Object.assign({ socket: { remoteAddress }, headers, rawHeaders: Object.entries(headers).flat() }, more) as never;

test("folds every spelling of an address into one", () => {
  for (const spelling of [
    "203.0.113.9",
    "::ffff:203.0.113.9",
    "::FFFF:203.0.113.9",
    "0:0:0:0:0:ffff:203.0.113.9",
    "[::ffff:203.0.113.9]",
    " 203.0.113.9 ",
  ]) {
    assert.equal(foldAddress(spelling), "203.0.113.9", spelling);
  }
});

const localCases: [name: string, remote: string, headers: Record<string, string>, local: boolean, address: string][] = [
  ["loopback", "127.0.0.1", { host: "127.0.0.1:18789" }, true, "127.0.0.1"],
  [
    "a browser or program on this machine, with its usual headers",
    "127.0.0.1",
    {
      host: "127.0.0.1:18789",
      "user-agent": "x",
      origin: "http://127.0.0.1:18789",
      referer: "http://127.0.0.1:18789/",
      "sec-fetch-site": "same-origin",
      "sec-fetch-user": "?1",
      "sec-ch-ua": "x",
      "sec-ch-ua-platform": "x",
      "sec-websocket-key": "x",
      "upgrade-insecure-requests": "1",
      "proxy-connection": "keep-alive",
      "x-stainless-os": "Linux",
      "x-requested-with": "x",
      "x-request-id": "x",
      "mcp-protocol-version": "x",
      "x-openclaw-message-channel": "x",
      traceparent: "x",
    },
    true,
    "127.0.0.1",
  ],
  ["loopback by name", "::1", { host: "localhost:18789" }, true, "::1"],
  ["mapped loopback", "::ffff:127.0.0.1", { host: "[::1]:18789" }, true, "127.0.0.1"],
  ["loopback with another name", "127.0.0.1", { host: "evil.example" }, false, "127.0.0.1"],
  [
    "an unknown proxy on loopback",
    "127.0.0.1",
    { host: "localhost", "x-forwarded-for": "127.0.0.1" },
    false,
    "127.0.0.1",
  ],
  [
    "an unknown proxy that sends only Forwarded",
    "127.0.0.1",
    { host: "localhost", forwarded: "for=127.0.0.1" },
    false,
    "127.0.0.1",
  ],
  ["a tunnel that sends only its own header", "127.0.0.1", { host: "localhost", "cf-ray": "1" }, false, "127.0.0.1"],
  [
    "a proxy that sends only x-forwarded-proto",
    "127.0.0.1",
    { host: "localhost", "x-forwarded-proto": "https" },
    false,
    "127.0.0.1",
  ],
  [
    "a remote client that claims to be local",
    "203.0.113.9",
    { host: "localhost", "x-forwarded-for": "127.0.0.1" },
    false,
    "203.0.113.9",
  ],
  [
    "a trusted proxy for a remote client",
    "10.0.0.2",
    { host: "claw.example", "x-forwarded-for": "203.0.113.9" },
    false,
    "203.0.113.9",
  ],
  [
    "a trusted proxy, first hop forged",
    "10.0.0.2",
    { host: "claw.example", "x-forwarded-for": "127.0.0.1, 203.0.113.9" },
    false,
    "203.0.113.9",
  ],
  [
    "a trusted proxy on this machine for a local client",
    "10.0.0.2",
    { host: "localhost", "x-forwarded-for": "127.0.0.1" },
    false,
    "127.0.0.1",
  ],
  [
    "two trusted proxies in a row",
    "10.0.0.2",
    { host: "localhost", "x-forwarded-for": "203.0.113.9, 10.0.0.2" },
    false,
    "203.0.113.9",
  ],
  ["a trusted proxy that names no client", "10.0.0.2", { host: "localhost" }, false, "10.0.0.2"],
];
for (const [name, remote, headers, local, address] of localCases) {
  test(`${name}: ${local ? "local" : "not local"}`, () => {
    const peer = peerOf(ask(remote, headers), rules);
    assert.deepEqual({ local: peer.local, address: peer.address }, { local, address });
  });
}

test("treats a connection from the bound address to itself as local, without a proxy and with that address as Host", () => {
  const to = (remote: string, headers: Record<string, string>, trustedProxies: string[] = []): boolean => {
    return peerOf(ask(remote, headers), { ...rules, trustedProxies, boundTo: ["192.168.1.5"] }).local;
  };
  assert.equal(to("192.168.1.5", { host: "192.168.1.5:18789" }), true);
  assert.equal(to("::ffff:192.168.1.5", { host: "192.168.1.5:18789" }), true);
  assert.equal(to("192.168.1.6", { host: "192.168.1.5:18789" }), false);
  assert.equal(to("192.168.1.5", { host: "evil.example" }), false);
  assert.equal(to("192.168.1.5", { host: "192.168.1.5", "x-forwarded-for": "10.0.0.9" }), false);
  assert.equal(to("192.168.1.5", { host: "192.168.1.5" }, ["192.168.1.5"]), false);
  assert.equal(peerOf(ask("192.168.1.5", { host: "192.168.1.5" }), { ...rules, boundTo: ["0.0.0.0"] }).local, false);
});

test("never treats a connection with a proxy header as local, on loopback or behind a trusted proxy", () => {
  const names = [
    "x-forwarded-for",
    "X_Forwarded_For",
    "x-forwarded",
    "forwarded",
    "x-real-ip",
    "via",
    "cf-ray",
    "fly-region",
  ];
  for (const trustedProxies of [[], ["127.0.0.1", "::1"]])
    for (const name of names)
      for (const value of ["127.0.0.1", "::1", "localhost", ""]) {
        const headers = { host: "localhost:18789", [name.toLowerCase()]: value };
        assert.equal(peerOf(ask("127.0.0.1", headers), { ...rules, trustedProxies }).local, false, `${name}: ${value}`);
      }
});

test("accepts only our names and addresses as Host", () => {
  const isOurs = (host: string): boolean => isOurHost(peerOf(ask("127.0.0.1", { host }), rules), rules);
  for (const host of ["127.0.0.1:1", "localhost", "[::1]:9", "192.168.1.5:18789", "claw.example", "CLAW.example:443"])
    assert.equal(isOurs(host), true, host);
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "claw.example.evil",
    "",
    "a b",
    "127.0.0.1@evil",
  ])
    assert.equal(isOurs(host), false, host);
});

test("rejects requests with two Host headers", () => {
  for (const [first, second] of [
    ["127.0.0.1:18789", "evil.example"],
    ["localhost", "localhost"],
  ]) {
    const twice = { rawHeaders: ["Host", first, "hOsT", second] };
    const peer = peerOf(ask("127.0.0.1", { host: first ?? "" }, twice), rules);
    assert.deepEqual([peer.local, isOurHost(peer, rules)], [false, false]);
  }
});

test("recognizes a page of another site by its Sec-Fetch headers, also without an Origin", () => {
  const isElsewhere = (method: string, headers: Record<string, string>): boolean =>
    isFromElsewhere(ask("127.0.0.1", headers, { method }));
  for (const site of ["cross-site", "same-site", "anything"])
    assert.equal(isElsewhere("POST", { "sec-fetch-site": site }), true, site);
  for (const [method, headers] of [
    ["POST", {}],
    ["POST", { "sec-fetch-mode": "cors" }],
    ["POST", { "sec-fetch-site": "same-origin" }],
    ["POST", { "sec-fetch-site": "none" }],
    // A link to the page, and a request with an Origin, which is checked by itself.
    ["GET", { "sec-fetch-site": "cross-site" }],
    ["POST", { "sec-fetch-site": "cross-site", origin: "https://ui.example" }],
  ] as const)
    assert.equal(isElsewhere(method, headers), false, `${method} ${JSON.stringify(headers)}`);
});

test("accepts only our origin and the listed ones", () => {
  const isOurs = (origin: string): boolean =>
    isOurOrigin(peerOf(ask("127.0.0.1", { host: "127.0.0.1:18789", origin }), rules), rules);
  for (const origin of ["http://127.0.0.1:18789", "https://127.0.0.1:18789", "https://ui.example"])
    assert.equal(isOurs(origin), true, origin);
  for (const origin of [
    "null",
    "http://127.0.0.1",
    "http://ui.example",
    "https://ui.example.evil",
    "file://",
    "chrome-extension://x",
    "javascript:1",
  ])
    assert.equal(isOurs(origin), false, origin);
});

test("never treats a remote peer as local, with any headers", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("host", "x-forwarded-for", "x-real-ip", "forwarded", "via", "origin"), fc.string()),
      (headers) => {
        assert.equal(peerOf(ask("203.0.113.9", headers), { ...rules, trustedProxies: [] }).local, false);
      },
    ),
  );
});
