// The browser control API over HTTP: loopback port of the gateway plus two, its token, no web pages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type Answer, type BrowserGround } from "../../harness/browser.ts";

describe("browser control API", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let base: string;
  before(async () => {
    ground = await startBrowserGround();
    base = `http://127.0.0.1:${ground.gateway.port + 2}`;
    ground.web.page("/", "<title>Control</title><button>Go</button>");
  });
  after(() => ground?.close());

  const ask = async (
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<{ readonly status: number; readonly body: Answer }> => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ground.gateway.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: text ?? "" }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  };

  /** fetch does not let the caller choose Host. */
  const statusWith = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const authorization = `Bearer ${ground.gateway.token}`;
      httpRequest(`${base}/`, { headers: { authorization, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });

  test("answers with the status without starting a browser", async () => {
    const { status, body } = await ask("GET", "/");
    assert.equal(status, 200);
    assert.deepEqual([body["enabled"], body["profile"], body["running"]], [true, "openclaw", false]);
    assert.equal((await ask("GET", "/?profile=chrome")).body["profile"], "chrome");
  });

  test("requires the token of the gateway", async () => {
    assert.equal((await ask("GET", "/", undefined, { authorization: "" })).status, 401);
    assert.equal((await ask("GET", "/", undefined, { authorization: "Bearer wrong" })).status, 401);
    assert.equal((await ask("POST", "/start", {}, { authorization: "Basic dGVzdA==" })).status, 401);
  });

  test("refuses names that were rebound to this machine, and web pages", async () => {
    assert.equal(await statusWith({ host: "evil.test" }), 403);
    assert.equal(await statusWith({ host: `evil.test:${ground.gateway.port + 2}` }), 403);
    assert.equal(await statusWith({ origin: "https://evil.test" }), 403);
    assert.equal(await statusWith({ origin: "null" }), 403);
    assert.equal(await statusWith({ "x-forwarded-for": "203.0.113.9" }), 403);
    assert.equal(await statusWith({ host: `localhost:${ground.gateway.port + 2}` }), 200);
  });

  test("listens on loopback only", { skip: process.platform === "linux" ? false : "reads /proc" }, () => {
    const port = (ground.gateway.port + 2).toString(16).toUpperCase().padStart(4, "0");
    const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A /gm)]
        .filter(([, , used]) => used === port)
        .map(([, address]) => address),
    );
    assert.deepEqual(listening, ["0100007F"]);
  });

  test("opens a page, reads it, acts on it and closes it", async () => {
    const opened = await ask("POST", "/tabs/open", { url: ground.at("/") });
    assert.equal(opened.status, 200);
    const { targetId } = opened.body;
    const { body: snapshot } = await ask("GET", `/snapshot?format=ai&targetId=${targetId}&interactive=true`);
    const ref = /button "Go" \[ref=(e\d+)\]/.exec(snapshot["snapshot"])?.[1];
    assert.ok(ref, snapshot["snapshot"]);
    assert.equal((await ask("POST", "/act", { kind: "click", ref, targetId })).body["ok"], true);
    const { body: tabs } = await ask("GET", "/tabs");
    assert.ok(tabs["tabs"].some((tab: Answer) => tab["targetId"] === targetId));
    assert.equal((await ask("DELETE", `/tabs/${targetId}`)).status, 200);
    assert.equal((await ask("POST", "/stop")).body["ok"], true);
  });

  test("answers errors with a status, a message and a code", async () => {
    const unknown = await ask("GET", "/nope");
    assert.deepEqual(
      [unknown.status, unknown.body["error"], unknown.body["code"]],
      [404, "Not Found", "browser.not-found"],
    );
    assert.equal((await ask("GET", "/?profile=nobody")).status, 404);
    assert.equal((await ask("POST", "/act", { kind: "zzz" })).status, 400);
    assert.equal((await ask("PUT", "/", {})).status, 405);
    assert.equal((await ask("POST", "/act", "{")).status, 400);
    assert.equal((await ask("POST", "/act", "{}", { "content-type": "text/plain" })).status, 415);
    assert.equal((await ask("POST", "/act", `{"kind":"${"x".repeat(2_100_000)}"}`)).status, 413);
    assert.equal((await ask("POST", "/set/offline", { offline: "maybe" })).status, 400);
  });
});
