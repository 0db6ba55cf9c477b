// The browser of a paired node, through our own node host with a real Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { nodeBrowserHome, noBrowser } from "../../harness/browser.ts";
import { operator, type Wire } from "../../harness/gateway.ts";
import { connectedAs, disposeNode, startNodeHost, type NodeHost } from "../../harness/node-host.ts";
import { startWebGround, type WebAnswer, type WebGround } from "../../harness/web.ts";

const page = `<title>Lab</title><h1>Hello node</h1><button onclick="this.textContent='Done'">Go</button>`;

describe("browser of a node", { skip: noBrowser }, () => {
  let ground: WebGround;
  let wire: Wire;
  let host: NodeHost;
  const browser = (args: object): Promise<WebAnswer> => ground.call("browser", args);
  before(async () => {
    // The gateway has no browser of its own, so that every answer comes from a node.
    ground = await startWebGround({
      tools: { profile: "full" },
      config: { browser: { executablePath: "/nonexistent/browser", defaultProfile: "openclaw" } },
    });
    wire = await operator(ground.gateway);
    const home = await nodeBrowserHome({
      nodeHost: { browserProxy: { allowProfiles: ["openclaw"] } },
      tools: { web: { allowPrivateHosts: ["pages.test"] } },
    });
    const env = { OPENCLAW_DNS_SERVER: ground.dns.address };
    host = startNodeHost(ground.gateway, { name: "lab", home, env });
    await connectedAs(wire, "lab");
    ground.web.page("/", page);
  });
  after(async () => {
    wire.end();
    await host.stop();
    await disposeNode(host);
    await ground.close();
  });

  test("serves calls that name no target when it is the only one", async () => {
    const opened = await browser({ action: "open", targetUrl: ground.at("/") });
    assert.ok(opened.ok, JSON.stringify(opened));
    const snapshot = await browser({ action: "snapshot" });
    assert.match(snapshot.text, /Hello node/);
    const ref = /button "Go" \[(\d+)\]/.exec(snapshot.text)?.[1];
    const clicked = await browser({ action: "act", request: { kind: "click", ref } });
    assert.ok(clicked.ok, JSON.stringify(clicked));
    assert.match((await browser({ action: "snapshot", node: "lab" })).text, /button "Done"/);
  });

  test("serves browser.request and stays away from it with target=host", async () => {
    const params = { method: "GET", path: "/tabs" };
    const { payload } = await wire.request("browser.request", params);
    const { tabs } = payload as { tabs: { url: string }[] };
    assert.ok(
      tabs.some(({ url }) => url === ground.at("/")),
      JSON.stringify(payload),
    );
    const onHost = await wire.request("browser.request", { ...params, target: "host" });
    assert.equal((onHost.payload as { running: boolean }).running, false);
    const missing = await browser({ action: "start", target: "host" });
    assert.equal(missing.error?.code, "browser.no-program", JSON.stringify(missing));
  });

  test("sends its screenshots to the media folder of the gateway, also large ones", async () => {
    // Noise does not compress: the picture is larger than one message of the gateway.
    ground.web.page(
      "/noise",
      `<canvas id=c width=1200 height=700></canvas><script>
        const g = c.getContext("2d"), d = g.createImageData(1200, 700);
        for (let i = 0; i < d.data.length; i++) d.data[i] = Math.random() * 256;
        g.putImageData(d, 0, 0);
      </script>`,
    );
    assert.ok((await browser({ action: "navigate", targetUrl: ground.at("/noise") })).ok);
    const { payload, error } = await wire.request("browser.request", { method: "POST", path: "/screenshot", body: {} });
    assert.equal(error, undefined, JSON.stringify(error));
    const { path } = payload as { path: string };
    assert.ok(path.startsWith(join(ground.gateway.home, ".openclaw", "media", "browser")), path);
    const bytes = readFileSync(path);
    assert.ok(bytes.length > 600_000, `${bytes.length} bytes`);
    assert.equal(bytes.toString("latin1", 1, 4), "PNG");
    const shown = await browser({ action: "screenshot" });
    assert.match(shown.text, /MEDIA:/);
    assert.ok(!shown.text.includes(host.home), "no path of the node reaches the model");
  });

  test("refuses a profile that the node does not offer, and private addresses of the node", async () => {
    const denied = await browser({ action: "start", profile: "bank" });
    assert.equal(denied.error?.code, "browser.profile-denied", JSON.stringify(denied));
    assert.match(denied.error?.message ?? "", /"bank".*nodeHost\.browserProxy\.allowProfiles/);
    const { text } = await browser({ action: "profiles" });
    assert.ok(/openclaw/.test(text) && !/bank/.test(text), text);
    const inner = await browser({ action: "open", targetUrl: `http://127.0.0.1:${ground.web.port}/` });
    assert.equal(inner.error?.code, "browser.blocked", JSON.stringify(inner));
  });

  test("answers a page that is too long for one message with an error, and stays connected", async () => {
    ground.web.page(
      "/long",
      Array.from({ length: 9000 }, (_, i) => `<p>paragraph number ${i} of a long page with many words in it</p>`).join(
        "",
      ),
    );
    assert.ok((await browser({ action: "navigate", targetUrl: ground.at("/long") })).ok);
    const options = { maxChars: 0, fold: false, timeoutMs: 60_000 };
    const all = await browser({ action: "snapshot", options });
    assert.match(all.error?.message ?? "", /too long for one message/, all.text.slice(0, 300));
    assert.ok((await browser({ action: "tabs" })).ok);
  });

  test("says which node is missing when it has gone", async () => {
    const other = startNodeHost(ground.gateway, {
      name: "desk",
      home: await nodeBrowserHome({ nodeHost: { browserProxy: { enabled: false } } }),
    });
    const { commands } = await connectedAs(wire, "desk");
    assert.ok(!commands.includes("browser.proxy"));
    const refused = await browser({ action: "status", node: "desk" });
    assert.equal(refused.error?.code, "browser.bad-target");
    assert.match(refused.error?.message ?? "", /desk .* offers no browser/);
    await disposeNode(other);
    const unknown = await browser({ action: "status", node: "attic" });
    assert.match(unknown.error?.message ?? "", /unknown node: attic/);
  });
});
