// BRW-103: a browser with these arguments has one way out. Whatever a page tries, no byte reaches a server beside the proxy.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium, type BrowserContext, type Page } from "playwright-core";

import { startFakeDns, type FakeDns } from "../../test/fakes/dns.ts";
import { startFakeWeb, type FakeWeb } from "../../test/fakes/web.ts";
import { noBrowser } from "../../test/harness/page.ts";
import { findProgram } from "../../test/harness/program.ts";
import type { Config } from "../config/schema/index.ts";
import { createGuard, type GuardProxy } from "../media/guard/guard.ts";
import { egressArguments } from "./egress.ts";

describe("egress", { skip: noBrowser }, () => {
  let dns: FakeDns;
  let web: FakeWeb;
  let proxy: GuardProxy;
  let context: BrowserContext;
  let page: Page;
  const folder = mkdtempSync(join(tmpdir(), "egress-"));
  const reached: string[] = [];
  const datagrams = createSocket("udp4", (message) => reached.push(`datagram of ${message.length} bytes`));
  const connections = createServer((socket) => {
    reached.push("connection");
    socket.on("error", () => socket.destroy());
  });

  before(async () => {
    await new Promise<void>((bound) => datagrams.bind(0, "127.0.0.1", bound));
    await new Promise<void>((bound) => connections.listen(0, "127.0.0.1", bound));
    web = await startFakeWeb();
    dns = await startFakeDns({ localhost: ["127.0.0.1"], "inside.test": ["127.0.0.1"] });
    // Pages of localhost are a secure context: they may use service workers and WebTransport.
    const config = { tools: { web: { allowPrivateHosts: [`localhost:${web.port}`] } } } as Config;
    const guard = createGuard({ config: () => config, env: { OPENCLAW_DNS_SERVER: dns.address } });
    proxy = await guard.openProxy();
    context = await chromium.launchPersistentContext(folder, {
      executablePath: findProgram("chromium") ?? "chromium",
      args: ["--no-sandbox", ...egressArguments(proxy.port)],
      timeout: 60_000,
    });
    page = context.pages()[0] ?? (await context.newPage());
    web.page("/", "<h1>Page</h1>");
    web.page(
      "/worker.js",
      `addEventListener("install", (event) => event.waitUntil(fetch("${trap("/sw")}", { mode: "no-cors" }).catch(() => 0)))`,
      "text/javascript",
    );
    await page.goto(`http://localhost:${web.port}/`);
    assert.equal(await page.evaluate("isSecureContext"), true);
  });
  after(async () => {
    await context?.close();
    await proxy?.close();
    await Promise.all([web?.close(), dns?.close()]);
    datagrams.close();
    connections.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const udp = (): number => datagrams.address().port;
  const trap = (path: string): string => `http://127.0.0.1:${(connections.address() as AddressInfo).port}${path}`;
  const host = (): string => trap("").slice("http://".length);

  /** Runs until the peer connection has tried its candidates. */
  const dial = (servers: string, candidates: string): string => `new Promise(async (done) => {
    const peer = new RTCPeerConnection({ iceServers: ${servers} });
    const other = new RTCPeerConnection();
    peer.createDataChannel("x");
    peer.onicecandidate = ({ candidate }) => candidate === null && ${candidates} .length === 0 && done("gathered");
    peer.oniceconnectionstatechange = () => /failed|disconnected/.test(peer.iceConnectionState) && done("failed");
    await peer.setLocalDescription(await peer.createOffer());
    await other.setRemoteDescription(peer.localDescription);
    await peer.setRemoteDescription(await other.createAnswer());
    for (const candidate of ${candidates}) await peer.addIceCandidate({ candidate, sdpMid: "0", sdpMLineIndex: 0 });
  })`;

  const ways: Readonly<Record<string, () => string>> = {
    "WebRTC asks a STUN server": () => dial(`[{ urls: "stun:127.0.0.1:${udp()}" }]`, "[]"),
    "WebRTC asks a TURN server over TCP and TLS": () =>
      dial(
        `["turn:${host()}?transport=tcp", "turns:${host()}?transport=tcp"].map((urls) => ({ urls, username: "a", credential: "b" }))`,
        "[]",
      ),
    "WebRTC connects to a candidate": () =>
      dial(
        "[]",
        `["candidate:1 1 udp 2113937151 127.0.0.1 ${udp()} typ host", "candidate:2 1 tcp 1518280447 ${host().replace(":", " ")} typ host tcptype passive"]`,
      ),
    WebTransport: () =>
      `(async () => { const transport = new WebTransport("https://127.0.0.1:${udp()}/", { serverCertificateHashes: [{ algorithm: "sha-256", value: new Uint8Array(32) }] }); await transport.ready; })()`,
    "WebTransport to a name": () => `new WebTransport("https://inside.test:${udp()}/").ready`,
    "fetch without CORS": () => `fetch("${trap("/fetch")}", { mode: "no-cors" })`,
    "fetch to localhost by name": () =>
      `fetch("${trap("/name").replace("127.0.0.1", "localhost")}", { mode: "no-cors" })`,
    "fetch to a name of a private address": () =>
      `fetch("${trap("/inside").replace("127.0.0.1", "inside.test")}", { mode: "no-cors" })`,
    WebSocket: () =>
      `Promise.all(["ws", "wss"].map((scheme) => new Promise((done) => { new WebSocket(scheme + "://${host()}/").onerror = done; })))`,
    EventSource: () => `new Promise((done) => { new EventSource("${trap("/events")}").onerror = done; })`,
    beacon: () => `navigator.sendBeacon("${trap("/beacon")}", "x")`,
    "service worker": () => `navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)`,
    "shared worker": () =>
      `new Promise((done) => { const code = "onconnect = ({ ports: [port] }) => fetch('${trap("/shared")}', { mode: 'no-cors' }).finally(() => port.postMessage(0))"; new SharedWorker(URL.createObjectURL(new Blob([code]))).port.onmessage = done; })`,
    "link hints": () =>
      `document.head.insertAdjacentHTML("beforeend", ["preconnect", "dns-prefetch", "prefetch", "modulepreload", "stylesheet", "manifest", "icon"].map((rel) => '<link rel="' + rel + '" href="${trap("/hint")}">').join(""))`,
    "speculation rules": () =>
      `(() => { const script = document.createElement("script"); script.type = "speculationrules"; script.textContent = JSON.stringify({ prefetch: [{ urls: ["${trap("/prefetch")}"] }], prerender: [{ urls: ["${trap("/prerender")}"] }] }); document.head.append(script); })()`,
    "embedded content": () =>
      `document.body.insertAdjacentHTML("beforeend", '<img src="${trap("/img")}"><iframe src="${trap("/frame")}"></iframe><object data="${trap("/object")}"></object><embed src="${trap("/embed")}"><video src="${trap("/video")}"></video><svg><image href="${trap("/svg")}"/></svg><div style="background:url(${trap("/css")})">x</div>')`,
    "form, ping and download": () =>
      `(() => { document.body.insertAdjacentHTML("beforeend", '<form action="${trap("/form")}" method="post" target="_blank"></form><a id="ping" href="#x" ping="${trap("/ping")}"></a><a id="save" href="${trap("/save")}" download></a>'); document.forms[0].submit(); document.getElementById("ping").click(); document.getElementById("save").click(); })()`,
    "a window with another scheme": () =>
      `["${trap("/open")}", "view-source:${trap("/source")}", "ftp://${host()}/", "filesystem:${trap("/t/x")}", "blob:${trap("/x")}"].map((url) => window.open(url) && 0)`,
  };

  for (const [name, script] of Object.entries(ways))
    test(`no byte leaves beside the proxy: ${name}`, async () => {
      // A way that ends with an error has been tried too.
      await Promise.race([page.evaluate(script()).catch(String), page.waitForTimeout(2500)]);
      assert.deepEqual(reached.splice(0), []);
    });

  test("opens no page of another scheme from a web page", async () => {
    await page.evaluate(
      `["file:///etc/passwd", "chrome://version", "chrome://settings", "devtools://devtools/bundled/inspector.html", "view-source:file:///etc/passwd", "data:text/html,x", "javascript:1"].map((url) => window.open(url) && 0)`,
    );
    await page.waitForTimeout(300);
    for (const other of context.pages()) assert.match(other.url(), /^(?:https?:|about:blank|chrome-error:|:|$)/);
    assert.deepEqual(reached.splice(0), []);
  });
});
