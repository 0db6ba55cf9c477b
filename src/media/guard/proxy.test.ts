// The guard's proxy lets a program reach checked addresses only, and tells the program why it refused.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { startFakeDns, type FakeDns } from "../../../test/fakes/dns.ts";
import { startFakeWeb, type FakeWeb } from "../../../test/fakes/web.ts";
import type { Config } from "../../config/schema/index.ts";
import { createGuard, type Guard, type GuardProxy } from "./guard.ts";

let dns: FakeDns;
let web: FakeWeb;
let guard: Guard;
let proxy: GuardProxy;
const owners = new Set<string>();

before(async () => {
  dns = await startFakeDns({
    "site.test": ["127.0.0.1"],
    "private.test": ["127.0.0.1"],
    "mixed.test": ["93.184.216.34", "127.0.0.1"],
    "rebind.test": [["93.184.216.34"], ["127.0.0.1"]],
  });
  web = await startFakeWeb();
  const config = { tools: { web: { allowPrivateHosts: ["site.test"] } } } as Config;
  guard = createGuard({ config: () => config, env: { OPENCLAW_DNS_SERVER: dns.address } });
  proxy = await guard.openProxy({ isOwners: (authority) => owners.has(authority) });
});
after(async () => {
  await proxy.close();
  await Promise.all([dns.close(), web.close()]);
});

interface Answer {
  readonly status: number;
  readonly guard: string | undefined;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: proxy.port, path, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          guard: response.headers["x-openclaw-guard"]?.toString(),
          body: Buffer.concat(parts).toString(),
          headers: response.headers,
        }),
      );
    })
      .on("error", reject)
      .end();
  });
}

/** The first line with which the proxy answers CONNECT. */
async function tunnelTo(authority: string): Promise<string> {
  const socket = connect(proxy.port, "127.0.0.1");
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return head.toString().split("\r\n")[0] ?? "";
}

test("passes a request on unchanged, long and with backslashes in its query", async () => {
  web.on("/echo", ({ url, headers }, response) => {
    response.writeHead(200, [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["x-openclaw-guard", "guard.metadata"],
    ] as never);
    response.end(JSON.stringify({ length: url.length, host: headers.host }));
  });
  const query = `?q=a\\b${"x".repeat(10_000)}`;
  const answer = await get(`http://site.test:${web.port}/echo${query}`, { host: "private.test" });
  assert.deepEqual(JSON.parse(answer.body), { length: `/echo${query}`.length, host: `site.test:${web.port}` });
  assert.deepEqual(answer.headers["set-cookie"], ["a=1", "b=2"]);
  assert.equal(answer.guard, undefined, "a server cannot speak for the guard");
});

test("refuses private names and addresses, other schemes and requests without a host", async () => {
  const before = web.requests.length;
  for (const [url, code] of [
    [`http://private.test:${web.port}/`, "guard.private-address"],
    [`http://mixed.test:${web.port}/`, "guard.private-address"],
    [`http://127.0.0.1:${web.port}/`, "guard.private-address"],
    [`http://[::ffff:127.0.0.1]:${web.port}/`, "guard.private-address"],
    [`http://site.test:${web.port}@127.0.0.1:${web.port}/`, "guard.credentials"],
    ["http://169.254.169.254/latest/meta-data/", "guard.metadata"],
    [`https://site.test:${web.port}/`, "guard.invalid-url"],
    ["ftp://site.test/", "guard.invalid-url"],
    ["/", "guard.invalid-url"],
    ["http:///", "guard.invalid-url"],
    ["http://site.test:25/", "guard.port"],
  ] as const) {
    const answer = await get(url);
    assert.deepEqual([answer.status, answer.guard], [403, code], url);
  }
  assert.equal(web.requests.length, before);
  assert.equal(proxy.refusal("169.254.169.254:80")?.code, "guard.metadata");
});

test("refuses tunnels to private addresses and opens them to allowed hosts", async () => {
  assert.match(await tunnelTo(`127.0.0.1:${web.port}`), /403/);
  assert.match(await tunnelTo(`[::1]:${web.port}`), /403/);
  assert.match(await tunnelTo(`private.test:${web.port}`), /403/);
  assert.match(await tunnelTo(`site.test:${web.port}@127.0.0.1:${web.port}`), /403/);
  assert.match(await tunnelTo("site.test:22"), /403/);
  assert.match(await tunnelTo("no-such-name.test:443"), /502/);
  assert.match(await tunnelTo(`site.test:${web.port}`), /200/);
  assert.equal(proxy.refusal(`private.test:${web.port}`)?.code, "guard.private-address");
});

test("connects to the address it checked when a name changes its answer", async () => {
  const socket = connect(proxy.port, "127.0.0.1");
  socket.write(`CONNECT rebind.test:${web.port} HTTP/1.1\r\n\r\n`);
  while (!dns.asked.includes("rebind.test")) await new Promise(setImmediate);
  socket.destroy();
  assert.match(await tunnelTo(`rebind.test:${web.port}`), /403/, "the second answer is private");
});

test("opens a private host while the owner shows it, and forgets the earlier refusal", async () => {
  const authority = `private.test:${web.port}`;
  web.page("/own", "own page");
  assert.equal((await get(`http://${authority}/own`)).status, 403);
  owners.add(authority);
  assert.equal((await get(`http://${authority}/own`)).body, "own page");
  assert.equal(proxy.refusal(authority), undefined);
  owners.delete(authority);
  assert.equal((await get(`http://${authority}/own`)).status, 403);
});

test("no exception opens the proxy itself", async () => {
  const answer = await get(`http://site.test:${proxy.port}/`);
  assert.deepEqual([answer.status, answer.guard], [403, "guard.own-gateway"]);
});

test("a server that fails is an error of the server", async () => {
  const odd = createServer((incoming) => incoming.socket.destroy());
  await new Promise<void>((listening) => odd.listen(0, "127.0.0.1", listening));
  const { port } = odd.address() as AddressInfo;
  assert.deepEqual((await get(`http://site.test:${port}/`)).status, 502);
  odd.close();
  await once(odd, "close");
  assert.deepEqual((await get(`http://site.test:${port}/`)).guard, "guard.connect");
  assert.deepEqual((await get("http://no-such-name.test/")).guard, "guard.dns");
});

test("a tunnel goes to the port that was checked, whatever else the request names", async () => {
  const before = web.requests.length;
  for (const rest of [`/x:${web.port}`, `?x:${web.port}`, `#x:${web.port}`])
    assert.doesNotMatch(await tunnelTo(`site.test:22${rest}`), /200/, rest);
  assert.equal(web.requests.length, before);
});

test("a client that breaks off while its target is checked does not end the process", async () => {
  // The test runner catches what would end the gateway, so it is counted here.
  let crashes = 0;
  const onCrash = (): void => void crashes++;
  process.on("uncaughtExceptionMonitor", onCrash);
  for (const name of ["site.test", "private.test", "no-such-name.test"])
    for (let round = 0; round < 5; round++) {
      const socket = connect(proxy.port, "127.0.0.1");
      const asked = dns.asked.length;
      socket.write(`CONNECT ${name}:${web.port} HTTP/1.1\r\n\r\n`);
      while (dns.asked.length === asked) await new Promise(setImmediate);
      socket.resetAndDestroy();
      await once(socket, "close");
    }
  assert.match(await tunnelTo(`site.test:${web.port}`), /200/);
  process.off("uncaughtExceptionMonitor", onCrash);
  assert.equal(crashes, 0);
});
