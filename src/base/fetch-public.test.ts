// URLs that others chose never lead to private addresses, and what comes back is bounded.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { fetchPublic, isPublicAddress } from "./fetch-public.ts";

const limits = { maxBytes: 1000, maxRedirects: 2, timeoutMs: 20_000 };
let server: Server;
let port: number;
before(async () => {
  server = createServer(({ url = "/" }, response) => {
    const redirect = /^\/redirect\/(\d)$/.exec(url)?.[1];
    if (redirect !== undefined)
      return void response
        .writeHead(302, { location: redirect === "0" ? "/text" : `/redirect/${+redirect - 1}` })
        .end();
    if (url === "/away") return void response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    if (url === "/file") return void response.writeHead(302, { location: "file:///etc/passwd" }).end();
    if (url === "/missing") return void response.writeHead(404).end();
    response
      .writeHead(200, { "content-type": "Text/Plain; charset=utf-8" })
      .end(url === "/big" ? "x".repeat(2000) : "hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
after(() => server.close());

const loopbackToo = (address: string): boolean => address === "127.0.0.1" || isPublicAddress(address);
const get = (path: string) => fetchPublic(`http://127.0.0.1:${port}${path}`, limits, loopbackToo);

test("fetches text and follows redirects up to the limit", async () => {
  const { bytes, mimeType } = await get("/redirect/1");
  assert.deepEqual([bytes.toString(), mimeType], ["hello", "text/plain"]);
  await assert.rejects(get("/redirect/3"), { code: "fetch.failed" });
});

test("refuses redirects to private addresses and other schemes, large answers and failures", async () => {
  await assert.rejects(get("/away"), { code: "fetch.refused" });
  await assert.rejects(get("/file"), { code: "fetch.refused" });
  await assert.rejects(get("/big"), { code: "fetch.refused" });
  await assert.rejects(get("/missing"), { code: "fetch.failed" });
});

for (const url of [
  "http://127.0.0.1/",
  "http://localhost/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://user:secret@93.184.216.34/",
  "ftp://93.184.216.34/",
  "file:///etc/passwd",
  "data:text/plain,hi",
  "no url",
])
  test(`does not fetch ${url}`, async () => {
    await assert.rejects(fetchPublic(url, limits), { code: "fetch.refused" });
  });

test("tells public addresses from all others", () => {
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:4700::1111"]) assert.ok(isPublicAddress(address), address);
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
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "fc00::1",
    "fe80::1",
    "ff02::1",
    "2001::1",
    "2002:a00:1::",
    "2001:db8::1",
    "not an address",
  ])
    assert.ok(!isPublicAddress(address), address);
});
