// browser.request: cookies, storage, settings, traces and downloads of a real browser, for the owner only.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type Answer, type BrowserGround } from "../../harness/browser.ts";
import { operator, type Wire } from "../../harness/gateway.ts";

describe("browser.request", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let wire: Wire;
  before(async () => {
    ground = await startBrowserGround();
    wire = await operator(ground.gateway);
    ground.web.page(
      "/",
      `<title>Owner</title><a href="/file.txt" download="notes.txt">Get</a>
       <button onclick="fetch('/api/items')">Load</button>`,
    );
    ground.web.on("/file.txt", (_request, response) => {
      response.writeHead(200, {
        "content-type": "text/plain",
        "content-disposition": "attachment; filename=notes.txt",
      });
      response.end("downloaded");
    });
    ground.web.on("/api/items", (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"items":[1,2,3]}`);
    });
    await ask("POST", "/tabs/open", { url: ground.at("/") });
  });
  after(async () => {
    wire?.end();
    await ground?.close();
  });

  const ask = async (method: string, path: string, body?: object, query?: object): Promise<Answer> =>
    wire.call("browser.request", { method, path, body, query });
  const post = (path: string, body: object = {}) => ask("POST", path, body);
  const run = async (fn: string): Promise<unknown> => (await post("/act", { kind: "evaluate", fn }))["result"];

  test("sets, lists and clears cookies", async () => {
    const set = await post("/cookies/set", { cookie: { name: "theme", value: "dark" } });
    assert.equal(set["ok"], true);
    await post("/cookies/set", { name: "flat", value: "1", url: ground.at("/") });
    const { cookies } = await ask("GET", "/cookies");
    assert.deepEqual(cookies.map(({ name, value, domain }: Answer) => [name, value, domain]).toSorted(), [
      ["flat", "1", "pages.test"],
      ["theme", "dark", "pages.test"],
    ]);
    assert.equal(await run("() => document.cookie.includes('theme=dark')"), true);
    await post("/cookies/clear");
    assert.deepEqual((await ask("GET", "/cookies"))["cookies"], []);
  });

  for (const kind of ["local", "session"]) {
    test(`sets, reads and clears the ${kind} storage of the open site`, async () => {
      await post(`/storage/${kind}/set`, { key: "a", value: "1" });
      await post(`/storage/${kind}/set`, { key: "b", value: "2" });
      assert.deepEqual((await ask("GET", `/storage/${kind}`))["values"], { a: "1", b: "2" });
      assert.deepEqual((await ask("GET", `/storage/${kind}`, undefined, { key: "b" }))["values"], { b: "2" });
      await post(`/storage/${kind}/clear`);
      assert.deepEqual((await ask("GET", `/storage/${kind}`))["values"], {});
    });
  }

  test("changes time zone, language, color scheme and position of a tab", async () => {
    await post("/set/timezone", { timezoneId: "Asia/Tokyo" });
    assert.equal(await run("() => Intl.DateTimeFormat().resolvedOptions().timeZone"), "Asia/Tokyo");
    await post("/set/locale", { locale: "pt-PT" });
    assert.equal(await run("() => Intl.NumberFormat().resolvedOptions().locale"), "pt-PT");
    await post("/set/media", { colorScheme: "dark" });
    assert.equal(await run("() => matchMedia('(prefers-color-scheme: dark)').matches"), true);
    await post("/set/media", { colorScheme: "none" });
  });

  test("sets a position for a site that may read it, and says which may not", async () => {
    const position = { latitude: 38.5, longitude: -9.25 };
    assert.equal((await post("/set/geolocation", { ...position, origin: "https://pages.test" }))["ok"], true);
    assert.equal((await post("/set/geolocation", { clear: true }))["ok"], true);
    const body = { ...position, origin: "http://pages.test" };
    const plain = await wire.request("browser.request", { method: "POST", path: "/set/geolocation", body });
    assert.match(plain.error?.message ?? "", /only pages of https/);
  });

  test("turns the network of pages off and on", async () => {
    await post("/set/offline", { offline: true });
    assert.equal(await run("() => navigator.onLine"), false);
    await post("/set/offline", { offline: false });
    assert.equal(await run("() => navigator.onLine"), true);
  });

  test("sends extra headers and HTTP credentials, and stops doing so", async () => {
    const seen: (string | undefined)[][] = [];
    ground.web.on("/secret", (request, response) => {
      seen.push([request.headers["x-debug"] as string | undefined, request.headers.authorization]);
      response.writeHead(request.headers.authorization === undefined ? 401 : 200, {
        "www-authenticate": 'Basic realm="test"',
        "content-type": "text/html",
      });
      response.end("secret");
    });
    await post("/set/headers", { headers: { "X-Debug": "1" } });
    await post("/set/credentials", { username: "ann", password: "pw" });
    await post("/navigate", { url: ground.at("/secret") });
    assert.deepEqual(seen.at(-1), ["1", `Basic ${Buffer.from("ann:pw").toString("base64")}`]);
    await post("/set/headers", { clear: true });
    await post("/set/credentials", { clear: true });
    await post("/navigate", { url: ground.at("/") });
    await run("() => fetch('/api/items').then(() => true)");
  });

  test("emulates a device, and suggests the name of a misspelled one", async () => {
    const opened = await post("/tabs/open", { url: ground.at("/") });
    const { targetId } = opened;
    await post("/set/device", { name: "iPhone 14", targetId });
    const evaluated = await post("/act", {
      kind: "evaluate",
      targetId,
      fn: "() => [innerWidth, navigator.maxTouchPoints > 0, devicePixelRatio]",
    });
    assert.deepEqual(evaluated["result"].slice(1), [true, 3]);
    const wrong = await wire.request("browser.request", {
      method: "POST",
      path: "/set/device",
      body: { name: "iPhone 41" },
    });
    assert.match(JSON.stringify(wrong.error), /there is no device .*did you mean/);
    await ask("DELETE", `/tabs/${targetId}`);
  });

  test("waits for a response and returns its body, cut to maxChars", async () => {
    const { snapshot } = await ask("GET", "/snapshot");
    const ref = /button "Load" \[(\d+)\]/.exec(snapshot)?.[1];
    const waiting = post("/response/body", { url: "**/api/items", maxChars: 9 });
    await post("/act", { kind: "click", ref });
    const { response } = await waiting;
    assert.deepEqual([response.status, response.body, response.truncated], [200, `{"items":`, true]);
  });

  test("saves a download in the media folder, by a click and by waiting", async () => {
    const { snapshot } = await ask("GET", "/snapshot");
    const ref = /link "Get" \[(\d+)\]/.exec(snapshot)?.[1];
    const { download } = await post("/download", { ref, path: "/etc/passwd" });
    assert.equal(download.suggestedFilename, "notes.txt");
    assert.ok(download.path.startsWith(`${ground.gateway.state}/media/browser/`), download.path);
    assert.equal(readFileSync(download.path, "utf8"), "downloaded");
    const waiting = post("/wait/download", { timeoutMs: 20_000 });
    await post("/act", { kind: "click", ref });
    assert.equal(readFileSync((await waiting)["download"].path, "utf8"), "downloaded");
    const none = await wire.request("browser.request", {
      method: "POST",
      path: "/wait/download",
      body: { timeoutMs: 50 },
    });
    assert.match(none.error?.message ?? "", /no download started in time/);
  });

  test("records a trace, and highlights an element", async () => {
    assert.equal((await post("/trace/start"))["ok"], true);
    const twice = await wire.request("browser.request", { method: "POST", path: "/trace/start" });
    assert.match(twice.error?.message ?? "", /already being recorded/);
    const { snapshot } = await ask("GET", "/snapshot");
    const ref = /button "Load" \[(\d+)\]/.exec(snapshot)?.[1];
    assert.equal((await post("/highlight", { ref }))["ok"], true);
    const { path } = await post("/trace/stop");
    assert.match(path, /media\/browser\/[^/]+\.zip$/);
    assert.equal(readFileSync(path).subarray(0, 2).toString(), "PK");
  });

  test("answers the tab actions of the command line of 2026.2", async () => {
    const { tab } = await post("/tabs/action", { action: "new" });
    assert.equal(tab.url, "about:blank");
    const { tabs } = await post("/tabs/action", { action: "list" });
    const index = tabs.findIndex(({ targetId }: Answer) => targetId === tab.targetId);
    assert.equal((await post("/tabs/action", { action: "select", index }))["targetId"], tab.targetId);
    assert.equal((await post("/tabs/action", { action: "close" }))["targetId"], tab.targetId);
    assert.equal((await post("/tabs/action", { action: "list" }))["tabs"].length, tabs.length - 1);
    const far = await wire.request("browser.request", {
      method: "POST",
      path: "/tabs/action",
      body: { action: "select", index: 99 },
    });
    assert.match(far.error?.message ?? "", /there is no tab 99/);
  });

  test("rejects unknown routes, methods and fields with the recorded messages", async () => {
    const refusal = async (params: object) => (await wire.request("browser.request", params)).error;
    assert.deepEqual(await refusal({}), { code: "INVALID_REQUEST", message: "method and path are required" });
    assert.equal((await refusal({ method: "PUT", path: "/" }))?.message, "method must be GET, POST, or DELETE");
    const unknown = await refusal({ method: "GET", path: "/nope" });
    assert.deepEqual([unknown?.code, unknown?.message], ["INVALID_REQUEST", "Not Found"]);
    assert.ok(JSON.stringify(unknown?.details).includes('"error":"Not Found"'));
    assert.match(
      (await refusal({ method: "POST", path: "/act", body: { kind: "zzz" } }))?.message ?? "",
      /kind is required/,
    );
    const extra = await refusal({ method: "POST", path: "/set/offline", body: { offline: true, zzz: 1 } });
    assert.match(extra?.message ?? "", /unexpected property 'zzz'/);
  });

  test("needs the scope operator.write, and refuses nodes", async () => {
    const reader = await operator(ground.gateway, { scopes: ["operator.read"] });
    const { error } = await reader.request("browser.request", { method: "GET", path: "/" });
    assert.equal(error?.message, "missing scope: operator.write");
    reader.end();
  });
});
