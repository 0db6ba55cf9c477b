// Attacks by pictures and attachments: paths that lead out, files that lie about their kind, replies that name local files.
import assert from "node:assert/strict";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { startFakeDns, type FakeDns } from "../fakes/dns.ts";
import { say, startFakeOpenAI, type FakeRequest, type FakeServer } from "../fakes/openai.ts";
import { startFakeWeb, type FakeWeb } from "../fakes/web.ts";
import { call } from "../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../harness/gateway.ts";
import { chat, modelConfig, textOf } from "../harness/model.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
let server: FakeServer;
let web: FakeWeb;
let dns: FakeDns;
let gateway: TestGateway;
let wire: Wire;
let reply = "A dot.";
const asked: FakeRequest[] = [];

before(async () => {
  server = await startFakeOpenAI((request) => {
    asked.push(request);
    return say(reply);
  });
  web = await startFakeWeb();
  dns = await startFakeDns({ "pages.test": ["127.0.0.1"] });
  const base = modelConfig(server) as { models: { providers: { fake: { models: { id: string }[] } } } };
  const [first = { id: "" }] = base.models.providers.fake.models;
  const models = [{ ...first, input: ["text", "image"] }];
  gateway = await startGateway({
    config: {
      ...base,
      models: { ...base.models, providers: { fake: { ...base.models.providers.fake, models } } },
      agents: { defaults: { model: { primary: `fake/${first.id}` }, imageModel: `fake/${first.id}` } },
      tools: { fs: { workspaceOnly: true }, web: { allowPrivateHosts: ["pages.test"] } },
    },
    env: { OPENCLAW_DNS_SERVER: dns.address },
  });
  mkdirSync(gateway.workspace, { recursive: true });
  writeFileSync(join(gateway.home, "outside.png"), PNG);
  writeFileSync(join(gateway.workspace, "dot.png"), PNG);
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await Promise.all([server.close(), web.close(), dns.close()]);
});

/** No model may have seen anything. */
async function isRefused(image: string): Promise<void> {
  const before = asked.length;
  const { error } = await call(gateway, "image", { image });
  assert.ok(error !== undefined, image);
  assert.equal(asked.length, before, image);
}

test("a picture of the workspace is read", async () => {
  assert.equal((await call(gateway, "image", { image: "dot.png" })).error, undefined);
});

test("MED-001 MED-002 a path that leads out of the workspace is refused, however it is spelled", async () => {
  for (const image of [
    "../../etc/shadow",
    "../../outside.png",
    "~/outside.png",
    join(gateway.home, "outside.png"),
    `file://${join(gateway.home, "outside.png")}`,
    "/etc/passwd",
    "file:///etc/shadow",
    "sub/../../../outside.png",
    "..\\..\\outside.png",
    "/proc/self/environ",
  ])
    await isRefused(image);
});

test("MED-003 links to a file outside are refused", async () => {
  symlinkSync(join(gateway.home, "outside.png"), join(gateway.workspace, "soft.png"));
  linkSync(join(gateway.home, "outside.png"), join(gateway.workspace, "hard.png"));
  symlinkSync(gateway.home, join(gateway.workspace, "up"));
  for (const image of ["soft.png", "hard.png", "up/outside.png"]) await isRefused(image);
});

test("MED-011 a file named like a picture must be one, on disk, at a URL and in a data URL", async () => {
  const html = "<html><body>not a picture</body></html>";
  writeFileSync(join(gateway.workspace, "page.png"), html);
  web.page("/page.png", html, "image/png");
  for (const image of [
    "page.png",
    `http://pages.test:${web.port}/page.png`,
    `data:image/png;base64,${Buffer.from(html).toString("base64")}`,
  ])
    await isRefused(image);
});

test("MED-013 a server that sends more than it says or never ends is stopped at the limit", async () => {
  let sent = 0;
  web.on("/huge.png", (_request, response) => {
    response.writeHead(200, { "content-type": "image/png" });
    response.write(PNG);
    const block = Buffer.alloc(1_000_000);
    const write = (): void => {
      while (!response.destroyed && sent < 500_000_000) {
        sent += block.length;
        if (!response.write(block)) return void response.once("drain", write);
      }
    };
    write();
  });
  await isRefused(`http://pages.test:${web.port}/huge.png`);
  assert.ok(sent < 100_000_000, `${sent} bytes`);
});

test("MED-004 MED-016 a reply that names a local file is text: no file is attached or read", async () => {
  reply = "Here you are.\nMEDIA:/etc/passwd\n<img src=/etc/passwd> ![x](file:///etc/passwd)";
  const end = await chat(wire, "main", "show me", "media-reply");
  reply = "A dot.";
  assert.match(textOf(end), /MEDIA:\/etc\/passwd/);
  assert.deepEqual(
    end.message?.content.map((block) => Object.keys(block).toSorted()),
    [["text", "type"]],
  );
  assert.doesNotMatch(JSON.stringify(wire.frames), /root:x:0/);
});

// Chat channels are not built: nothing can be attached to a message, and no media comes in from senders.
test("MED-005 MED-006 MED-012 the message tool attaches no file under any name", async () => {
  for (const key of ["filePath", "mediaUrl", "fileUrl", "path", "buffer", "media"])
    for (const file of ["/etc/passwd", "/tmp/not-ours.png"]) {
      const { error } = await call(gateway, "message", { action: "send", to: "x", message: "hi", [key]: file });
      assert.ok(error !== undefined, key);
    }
});
