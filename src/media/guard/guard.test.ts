// The guard blocks URLs that lead to a private address, and bounds responses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { NetworkInterfaceInfo } from "node:os";
import { gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";

import { startFakeDns, type FakeDns } from "../../../test/fakes/dns.ts";
import { startFakeWeb, type FakeWeb } from "../../../test/fakes/web.ts";
import type { Config } from "../../config/schema/index.ts";
import { classifyAddress, reachedAddress } from "./address.ts";
import { readExceptions } from "./exceptions.ts";
import { createGuard, type Guard } from "./guard.ts";
import { readTarget } from "./target.ts";

let dns: FakeDns;
let web: FakeWeb;
let other: FakeWeb;
let guard: Guard;
before(async () => {
  dns = await startFakeDns({
    "site.test": ["127.0.0.1"],
    "other.test": ["127.0.0.1"],
    "private.test": ["127.0.0.1"],
    "mixed.test": ["93.184.216.34", "10.0.0.1"],
    "six.test": ["::ffff:7f00:1"],
  });
  web = await startFakeWeb();
  other = await startFakeWeb();
  guard = guardWith(["site.test", "other.test"]);
});
after(async () => {
  await Promise.all([dns.close(), web.close(), other.close()]);
});

function guardWith(allowPrivateHosts: readonly string[], port = 1): Guard {
  const config = { tools: { web: { allowPrivateHosts } }, gateway: { port } } as Config;
  return createGuard({ config: () => config, env: { OPENCLAW_DNS_SERVER: dns.address } });
}

const site = (path: string): string => `http://site.test:${web.port}${path}`;

test("connects to the address that was checked and sends the name of the host", async () => {
  web.page("/plain", "hello", "Text/Plain; charset=utf-8");
  const response = await guard.fetch(site("/plain"));
  assert.deepEqual(
    [response.status, response.mimeType, (await response.bytes()).toString()],
    [200, "text/plain", "hello"],
  );
  assert.equal(web.requests.at(-1)?.headers.host, `site.test:${web.port}`);
});

test("checks every redirect and drops credentials on the way to another origin", async () => {
  const { port } = other;
  web.on("/hop", (_request, response) => response.writeHead(302, { location: `http://other.test:${port}/end` }).end());
  web.on("/same", (_request, response) => response.writeHead(302, { location: "/hop" }).end());
  other.page("/end", "there");
  const headers = { authorization: "Bearer secret", "x-subscription-token": "secret", cookie: "a=b", accept: "text/*" };
  const response = await guard.fetch(site("/same"), { headers });
  assert.equal((await response.bytes()).toString(), "there");
  assert.equal(response.url, `http://other.test:${port}/end`);
  assert.equal(web.requests.at(-1)?.headers.authorization, "Bearer secret");
  const sent = other.requests.at(-1)?.headers ?? {};
  assert.deepEqual(
    [sent.authorization, sent["x-subscription-token"], sent.cookie, sent.accept],
    [undefined, undefined, undefined, "text/*"],
  );
  for (const [location, code] of [
    ["http://127.0.0.1/", "guard.private-address"],
    [`http://private.test:${port}/`, "guard.private-address"],
    ["http://169.254.169.254/latest/", "guard.metadata"],
    ["file:///etc/passwd", "guard.scheme"],
    ["//localhost/", "guard.private-name"],
  ] as const) {
    web.on("/away", (_request, answer) => answer.writeHead(302, { location }).end());
    await assert.rejects(guard.fetch(site("/away")), { code }, location);
  }
});

test("follows a limited number of redirects", async () => {
  web.on("/loop", (_request, response) => response.writeHead(302, { location: "/loop" }).end());
  const before = web.requests.length;
  await assert.rejects(guard.fetch(site("/loop"), { maxRedirects: 2 }), { code: "guard.redirects" });
  assert.equal(web.requests.length - before, 3);
});

test("sends the body again only to the same origin", async () => {
  web.on("/307", (_request, response) => response.writeHead(307, { location: "/take" }).end());
  web.on("/away307", (_request, response) =>
    response.writeHead(307, { location: `http://other.test:${other.port}/end` }).end(),
  );
  web.page("/take", "ok");
  other.page("/end", "there");
  await (await guard.fetch(site("/307"), { method: "POST", body: "secret" })).bytes();
  assert.deepEqual([web.requests.at(-1)?.method, web.requests.at(-1)?.body], ["POST", "secret"]);
  await (await guard.fetch(site("/away307"), { method: "POST", body: "secret" })).bytes();
  assert.deepEqual([other.requests.at(-1)?.method, other.requests.at(-1)?.body], ["GET", ""]);
});

test("bounds the decompressed size, the header size and the time", async () => {
  const bomb = Buffer.alloc(20_000_000);
  for (const [encoding, bytes] of [
    ["gzip", gzipSync(bomb)],
    ["zstd", zstdCompressSync(bomb)],
  ] as const) {
    web.page("/bomb", bytes, "text/plain", { "content-encoding": encoding });
    await assert.rejects((await guard.fetch(site("/bomb"), { maxBytes: 100_000 })).bytes(), {
      code: "guard.too-large",
    });
    const { bytes: head, isCut } = await (await guard.fetch(site("/bomb"), { maxBytes: 100_000 })).head();
    assert.deepEqual([head.length, isCut], [100_000, true]);
  }
  web.page("/broken", "this is not gzip", "text/plain", { "content-encoding": "gzip" });
  await assert.rejects((await guard.fetch(site("/broken"))).bytes(), { code: "guard.encoding" });
  web.page("/odd", "x", "text/plain", { "content-encoding": "gzip, gzip" });
  await assert.rejects((await guard.fetch(site("/odd"))).bytes(), { code: "guard.encoding" });
  web.page("/headers", "x", "text/plain", { "x-long": "y".repeat(40_000) });
  await assert.rejects(guard.fetch(site("/headers")), { code: "guard.headers-too-large" });
  web.on("/slow", (_request, response) => void response.writeHead(200).write("one byte"));
  await assert.rejects((await guard.fetch(site("/slow"), { timeoutMs: 300 })).bytes(), { code: "guard.timeout" });
  web.on("/never", () => undefined);
  await assert.rejects(guard.fetch(site("/never"), { timeoutMs: 300 }), { code: "guard.timeout" });
});

test("ends compressed data without end that decompresses to nothing", async () => {
  const nothing = Buffer.concat(Array.from({ length: 5000 }, () => gzipSync("")));
  web.on("/nothing", (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
    const write = (): void => {
      while (!response.destroyed) if (!response.write(nothing)) return void response.once("drain", write);
    };
    write();
  });
  await assert.rejects((await guard.fetch(site("/nothing"), { maxBytes: 10_000 })).bytes(), {
    code: "guard.too-large",
  });
});

test("a compressed response does not choose how much memory it takes", async () => {
  // A frame without content whose header asks for a window of 2 to the power of 10 + 17 bytes.
  const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00]);
  web.page("/window", frame, "text/plain", { "content-encoding": "zstd" });
  await assert.rejects((await guard.fetch(site("/window"))).bytes(), { code: "guard.encoding" });
  web.page("/window", zstdCompressSync("small"), "text/plain", { "content-encoding": "zstd" });
  assert.equal((await (await guard.fetch(site("/window"))).bytes()).toString(), "small");
});

test("reads the address of a redirect as UTF-8, as browsers do", async () => {
  web.on("/utf8", (_request, response) => {
    response.socket?.end("HTTP/1.1 302 Found\r\nlocation: /caf\u00e9/\u0420\r\ncontent-length: 0\r\n\r\n");
  });
  web.page("/caf%C3%A9/%D0%A0", "found");
  assert.equal((await (await guard.fetch(site("/utf8"))).bytes()).toString(), "found");
  web.on("/utf8", (_request, response) => {
    response.socket?.end("HTTP/1.1 302 Found\r\nlocation: http://127\u30020\u30020\u30021/\r\n\r\n");
  });
  await assert.rejects(guard.fetch(site("/utf8")), { code: "guard.private-address" });
});

test("public addresses of this machine and of its own IPv6 network need an exception", async () => {
  const face = (address: string, cidr: string): NetworkInterfaceInfo => ({
    address,
    cidr,
    netmask: "",
    mac: "",
    internal: false,
    ...(address.includes(":") ? { family: "IPv6", scopeid: 0 } : { family: "IPv4" }),
  });
  const interfaces = () => ({
    eth0: [face("93.184.216.34", "93.184.216.34/24"), face("2606:4700:1:2::5", "2606:4700:1:2::5/64")],
    wide: [face("2a00:1450::1", "2a00:1450::1/32")],
  });
  const withHosts = (allowPrivateHosts: readonly string[]): Guard =>
    createGuard({
      config: () => ({ tools: { web: { allowPrivateHosts } } }) as Config,
      env: {},
      interfaces,
    });
  const cases: readonly [url: string, allowed: boolean][] = [
    ["http://93.184.216.34/", false],
    ["http://[::ffff:93.184.216.34]/", false],
    ["http://[64:ff9b::5db8:d822]/", false],
    ["http://93.184.216.35/", true],
    ["http://[2606:4700:1:2::5]/", false],
    ["http://[2606:4700:1:2:ffff::1]/", false],
    ["http://[2606:4700:1:3::1]/", true],
    ["http://[2a00:1450::1]/", false],
    ["http://[2a00:1450::2]/", true],
  ];
  for (const [url, allowed] of cases) assert.equal((await withHosts([]).check(url)).allowed, allowed, url);
  assert.equal((await withHosts(["93.184.216.34"]).check("http://93.184.216.34/")).exception, "93.184.216.34");
  const own = withHosts(["93.184.216.34"]);
  own.reservePort(8080);
  assert.equal((await own.check("http://93.184.216.34:8080/")).code, "guard.own-gateway");
});

test("ends the request when the server switches protocols or sends interim responses without end", async () => {
  const interim = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const answers: Readonly<Record<string, string>> = {
    "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    "/flood": interim.repeat(200),
    "/hints": `${interim.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`,
  };
  for (const [path, answer] of Object.entries(answers))
    web.on(path, (_request, response) => void response.socket?.write(answer));
  for (const path of ["/upgrade", "/flood"])
    await assert.rejects(guard.fetch(site(path)), { code: "guard.protocol" }, path);
  assert.equal((await (await guard.fetch(site("/hints"))).bytes()).toString(), "ok");
});

test("stops when the caller does", async () => {
  const control = new AbortController();
  web.on("/hang", () => control.abort(new Error("the caller left")));
  await assert.rejects(guard.fetch(site("/hang"), { signal: control.signal }), { message: "the caller left" });
});

test("refuses a name with one private address among its answers", async () => {
  for (const host of ["private.test", "mixed.test", "six.test"])
    await assert.rejects(guard.fetch(`http://${host}:${web.port}/plain`), { code: "guard.private-address" }, host);
  await assert.rejects(guard.fetch("http://unknown.test/"), { code: "guard.dns" });
});

test("no exception opens the gateway's own port or a metadata service", async () => {
  const own = guardWith(["localhost", "127.0.0.1", "site.test", "169.254.0.0/16", "0.0.0.0/0"], web.port);
  for (const host of ["site.test", "127.0.0.1", "[::ffff:127.0.0.1]"])
    await assert.rejects(own.fetch(`http://${host}:${web.port}/`), { code: "guard.own-gateway" }, host);
  own.reservePort(other.port);
  await assert.rejects(own.fetch(`http://127.0.0.1:${other.port}/`), { code: "guard.own-gateway" });
  await assert.rejects(own.fetch("http://169.254.169.254/latest/"), { code: "guard.metadata" });
});

test("a fetch function for libraries is guarded and streams", async () => {
  web.page("/json", '{"a":1}', "application/json");
  const fetch = guard.fetchFunction();
  assert.deepEqual(await (await fetch(site("/json"))).json(), { a: 1 });
  await assert.rejects(fetch("http://10.0.0.1/"), { code: "guard.private-address" });
  const posted = await fetch(new URL(site("/take")), { method: "POST", body: "x", headers: { a: "b" } });
  assert.deepEqual([posted.status, web.requests.at(-1)?.body, web.requests.at(-1)?.headers["a"]], [200, "x", "b"]);
});

test("says what it would do without connecting", async () => {
  const before = web.requests.length;
  const allowed = await guard.check(site("/plain"));
  assert.deepEqual([allowed.allowed, allowed.exception, allowed.addresses], [true, "site.test", ["127.0.0.1"]]);
  const denied = await guard.check("http://0x7f.1/");
  assert.deepEqual([denied.allowed, denied.code, denied.host], [false, "guard.private-address", "127.0.0.1"]);
  assert.equal(web.requests.length, before);
});

test("reads exceptions by name, wildcard, address, network and port", () => {
  const exceptions = readExceptions([
    "NAS.local",
    "box.test:8080",
    "*.lab.example",
    "192.168.1.0/24",
    "[fd00::1]:81",
    "*",
    "a/b",
    "10.0.0.0/",
    "10.0.0.0/0x8",
    "10.0.0.0/8/8",
    "10.0.0.0/33",
  ]);
  const cases: readonly [host: string, port: number, address: string, entry: string | undefined][] = [
    ["nas.local", 1, "10.0.0.1", "NAS.local"],
    ["box.test", 8080, "10.0.0.1", "box.test:8080"],
    ["box.test", 80, "10.0.0.1", undefined],
    ["a.lab.example", 80, "10.0.0.1", "*.lab.example"],
    ["lab.example", 80, "10.0.0.1", undefined],
    ["evillab.example", 80, "10.0.0.1", undefined],
    ["any.test", 80, "192.168.1.7", "192.168.1.0/24"],
    ["any.test", 80, "192.168.2.7", undefined],
    ["fd00::1", 81, "fd00::1", "[fd00::1]:81"],
    ["any.test", 80, "10.0.0.1", undefined],
  ];
  for (const [host, port, address, entry] of cases)
    assert.equal(exceptions.find(host, port, address), entry, `${host}:${port} ${address}`);
});

test("names the IPv4 address that a packet to an IPv6 address ends up at", () => {
  const cases: readonly [address: string, reached: string][] = [
    ["192.168.1.5", "192.168.1.5"],
    ["::ffff:192.168.1.5", "192.168.1.5"],
    ["::ffff:c0a8:105", "192.168.1.5"],
    ["64:ff9b::c0a8:105", "192.168.1.5"],
    ["fd00::1", "fd00::1"],
    ["no address", "no address"],
  ];
  for (const [address, reached] of cases) assert.equal(reachedAddress(address), reached, address);
});

test("tells public addresses from all others", () => {
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"])
    assert.equal(classifyAddress(address), "public", address);
  for (const address of [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.9.9.9",
    "169.254.1.1",
    "172.31.0.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:10.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::808:808",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2001::1",
    "2002:a00:1::",
    "2001:db8::1",
    "2600::5efe:a00:1",
    "2600::200:5efe:a00:1",
    "fd00:ec2::254",
    "not an address",
    "",
  ])
    assert.notEqual(classifyAddress(address), "public", address);
});

test("every spelling of an IPv4 address is read as that address", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte, byte), fc.integer({ min: 0, max: 5 }), ([a, b, c, d], form) => {
      const packed = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
      const host = [
        `${a}.${b}.${c}.${d}`,
        String(packed),
        `0x${packed.toString(16)}`,
        `0${a.toString(8)}.0x${b.toString(16)}.${(c << 8) | d}`,
        `${a}。${b}．${c}｡${d}.`,
        `${a}.${packed & 0xffffff}`,
      ][form];
      assert.equal(readTarget(`http://${host}/`).host, `${a}.${b}.${c}.${d}`);
    }),
  );
});

for (const [url, code] of [
  ["http://user:secret@93.184.216.34/", "guard.credentials"],
  ["http://example.com\\@127.0.0.1/", "guard.invalid-url"],
  ["http://exa mple.com/", "guard.invalid-url"],
  ["http://example.com/\r\nX: 1", "guard.invalid-url"],
  ["http://[fe80::1%25eth0]/", "guard.invalid-url"],
  ["ftp://93.184.216.34/", "guard.scheme"],
  ["data:text/plain,hi", "guard.scheme"],
  ["http://93.184.216.34:25/", "guard.port"],
  ["http://printer.local./", "guard.private-name"],
  ["http://LOCALHOST/", "guard.private-name"],
  ["no url", "guard.invalid-url"],
] as const)
  test(`does not fetch ${JSON.stringify(url)}`, async () => {
    await assert.rejects(guard.fetch(url), { code });
  });
