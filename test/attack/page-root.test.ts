// Ways out of the folders the gateway serves to anybody who reaches its port: the page's own, and pictures of agents.
import assert from "node:assert/strict";
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import { askPath } from "../harness/http.ts";
import { dispose, freePort, startGateway, tempHome, type TestGateway } from "../harness/gateway.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const SECRET = "top-secret-of-the-owner";

describe("gateway.controlUi.root", () => {
  let gateway: TestGateway;
  let home: string;
  let page: string;

  before(async () => {
    home = tempHome();
    page = join(home, "page");
    mkdirSync(join(page, "assets"), { recursive: true });
    mkdirSync(join(page, ".git"));
    mkdirSync(join(home, "page-secret"));
    writeFileSync(join(home, "outside.txt"), SECRET);
    writeFileSync(join(home, "page-secret", "x.txt"), SECRET);
    writeFileSync(join(page, "index.html"), "<!doctype html><p>the page of the owner</p>");
    writeFileSync(join(page, "assets", "app.js"), "export {};");
    writeFileSync(join(page, ".env"), SECRET);
    writeFileSync(join(page, ".git", "config"), SECRET);
    symlinkSync(join(home, "outside.txt"), join(page, "link.txt"));
    symlinkSync("../outside.txt", join(page, "relative.txt"));
    symlinkSync(home, join(page, "folder"));
    symlinkSync("/proc/self/environ", join(page, "environ"));
    symlinkSync("app.js", join(page, "assets", "same.js"));
    gateway = await startGateway({ home, config: { gateway: { port: await freePort(), controlUi: { root: page } } } });
  });
  after(() => dispose(gateway));

  const attempts = [
    "/../outside.txt",
    "/assets/../../outside.txt",
    "/%2e%2e/outside.txt",
    "/%2e%2e%2foutside.txt",
    "/assets/..%2f..%2foutside.txt",
    "/..%5coutside.txt",
    "/%252e%252e/outside.txt",
    "//outside.txt",
    "/../page-secret/x.txt",
    "/.%00./outside.txt",
    "/%c0%ae%c0%ae/outside.txt",
    "/%ff",
    "/link.txt",
    "/relative.txt",
    "/folder/outside.txt",
    "/folder/.openclaw/openclaw.json",
    "/environ",
    "/.env",
    "/.git/config",
    "/assets/%2e%65nv",
    "/./.env",
  ];
  for (const path of attempts)
    test(`serves no file from outside for ${path}`, async () => {
      const { text, status } = await askPath(gateway.port, path);
      assert.ok(!text.includes(SECRET) && !text.includes(gateway.token) && !text.includes("PATH="), text);
      assert.ok(status === 404 || text.includes("the page of the owner"), `${status}`);
    });

  test("serves no file from outside for an absolute path", async () => {
    for (const path of [join(home, "outside.txt"), `/${join(home, "outside.txt")}`, `file://${home}/outside.txt`]) {
      const { text } = await askPath(gateway.port, path);
      assert.ok(!text.includes(SECRET), text);
    }
  });

  test("serves no file from outside for any mix of steps, escapes and links", async () => {
    const step = fc.constantFrom(
      "..",
      "%2e%2e",
      ".%2e",
      ".",
      "",
      "folder",
      "link.txt",
      "outside.txt",
      "%2f",
      "\\",
      "%5c",
      "page",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const { text } = await askPath(gateway.port, `/${steps.join("/")}`);
        assert.ok(!text.includes(SECRET));
      }),
      { numRuns: 100 },
    );
  });

  test("serves files and links that stay inside, and the index for every other path", async () => {
    const script = await askPath(gateway.port, "/assets/same.js");
    assert.deepEqual([script.status, script.text], [200, "export {};"]);
    assert.equal(script.headers["content-type"], "text/javascript; charset=utf-8");
    for (const path of ["/", "/index.html", "/chat", "/assets", "/assets/none.js", "/a/b/c"]) {
      const { status, text, headers } = await askPath(gateway.port, path);
      assert.deepEqual([path, status, text], [path, 200, "<!doctype html><p>the page of the owner</p>"]);
      assert.match(String(headers["content-security-policy"]), /script-src 'self';.*frame-ancestors 'none'/);
      assert.equal(headers["cache-control"], "no-cache");
    }
    assert.equal((await askPath(gateway.port, "/", "POST")).status, 405);
    assert.equal((await askPath(gateway.port, "/", "HEAD")).text, "");
  });
});

describe("folders that gateway.controlUi.root must not be", () => {
  const cases: Readonly<Record<string, (home: string) => string>> = {
    "the home folder": (home) => home,
    "the state folder": (home) => join(home, ".openclaw"),
    "a folder of the state folder": (home) => join(home, ".openclaw", "credentials"),
    "the whole disk": () => "/",
    "a folder of keys": (home) => join(home, ".ssh"),
    "a link to the state folder": (home) => join(home, "link"),
    "a folder that is not there": (home) => join(home, "missing"),
    "a folder without an index": (home) => join(home, "empty"),
  };
  let gateway: TestGateway;
  let home: string;
  let file: string;

  before(async () => {
    home = tempHome();
    for (const name of [".ssh", ".openclaw", ".openclaw/credentials", "empty"]) mkdirSync(join(home, name));
    for (const name of ["", ".ssh", ".openclaw", ".openclaw/credentials"])
      writeFileSync(join(home, name, "index.html"), SECRET);
    symlinkSync(join(home, ".openclaw"), join(home, "link"));
    gateway = await startGateway({ home, config: {} });
    file = join(home, ".openclaw", "openclaw.json");
  });
  after(() => dispose(gateway));

  for (const [name, folder] of Object.entries(cases))
    test(`refuses ${name}`, async () => {
      await gateway.stop();
      const config = JSON.parse(readFileSync(file, "utf8")) as { gateway: Record<string, unknown> };
      const next = { ...config, gateway: { ...config.gateway, controlUi: { root: folder(home) } } };
      writeFileSync(file, JSON.stringify(next));
      gateway = await startGateway({ home });
      for (const path of ["/", "/openclaw.json", "/index.html", "/id_ed25519"]) {
        const { status, text } = await askPath(gateway.port, path);
        assert.deepEqual([status, text.includes(SECRET), text.includes(home)], [503, false, false]);
        assert.match(text, /gateway\.controlUi\.root/);
      }
    });
});

describe("agent avatars", () => {
  let gateway: TestGateway;

  before(async () => {
    const home = tempHome();
    const state = join(home, ".openclaw");
    const avatars: Readonly<Record<string, string>> = {
      main: "pic.png",
      up: "../openclaw.json.png",
      link: "link.png",
      hard: "hard.png",
      text: "words.png",
      absolute: join(home, "outside.png"),
      drawing: "drawing.svg",
      missing: "missing.png",
      web: "https://example.com/a.png",
      user: "https://me:pass@example.com/a.png",
      data: `data:image/png;base64,${png.toString("base64")}`,
      page: "data:text/html,<script>1</script>",
      file: "file:///etc/passwd.png",
      script: "javascript:alert(1).png",
      emoji: "M",
    };
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const list = Object.entries(avatars).map(([id, avatar]) => ({
      id,
      workspace: join(state, "workspace"),
      identity: { avatar },
    }));
    const workspace = join(state, "workspace");
    mkdirSync(workspace);
    writeFileSync(join(workspace, "pic.png"), png);
    writeFileSync(join(home, "outside.png"), png);
    writeFileSync(join(state, "openclaw.json.png"), png);
    writeFileSync(join(workspace, "words.png"), SECRET);
    writeFileSync(join(workspace, "drawing.svg"), '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
    symlinkSync(join(home, "outside.png"), join(workspace, "link.png"));
    linkSync(join(home, "outside.png"), join(workspace, "hard.png"));
    gateway = await startGateway({
      home,
      config: { agents: { list }, gateway: { port: await freePort(), controlUi: { basePath: "/claw" } } },
    });
  });
  after(() => dispose(gateway));

  const metaOf = async (name: string): Promise<unknown> => {
    const { status, headers, text } = await askPath(gateway.port, `/avatar/${name}?meta=1`);
    assert.deepEqual([status, headers["content-type"]], [200, "application/json; charset=utf-8"], name);
    return JSON.parse(text);
  };

  test("reports the avatar URL, or null when there is none", async () => {
    assert.deepEqual(await metaOf("main"), { avatarUrl: "/claw/avatar/main" });
    assert.deepEqual(await metaOf("web"), { avatarUrl: "https://example.com/a.png" });
    assert.deepEqual(await metaOf("data"), { avatarUrl: `data:image/png;base64,${png.toString("base64")}` });
    assert.deepEqual(await metaOf("drawing"), { avatarUrl: "/claw/avatar/drawing" });
    for (const name of [
      "emoji",
      "missing",
      "nope",
      "up",
      "link",
      "hard",
      "text",
      "absolute",
      "user",
      "page",
      "file",
      "script",
    ])
      assert.deepEqual([name, await metaOf(name)], [name, { avatarUrl: null }]);
  });

  test("serves an avatar from the workspace, with and without the base path", async () => {
    for (const path of ["/avatar/main", "/claw/avatar/main", "/claw/avatar/main?meta=0"]) {
      const { status, headers, body } = await askPath(gateway.port, path);
      assert.deepEqual([path, status, headers["content-type"], body], [path, 200, "image/png", png]);
    }
    const drawing = await askPath(gateway.port, "/avatar/drawing");
    assert.equal(drawing.headers["content-type"], "image/svg+xml");
    assert.equal(drawing.headers["content-security-policy"], "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  });

  test("serves no other file", async () => {
    const names = ["nope", "emoji", "web", "data", "up", "link", "hard", "text", "absolute", "missing", "", "main/x"];
    const escapes = ["..%2fopenclaw.json", "%2e%2e", "main%2f..%2fup", "%ff", "main%00.png", "../openclaw.json.png/."];
    for (const name of [...names, ...escapes]) {
      const { status, text } = await askPath(gateway.port, `/avatar/${name}`);
      assert.deepEqual([name, status, text], [name, 404, "Not Found"]);
    }
    assert.equal((await askPath(gateway.port, "/avatar/main", "POST")).status, 405);
  });

  test("redirects the Control UI path without its slash to the one with it", async () => {
    const { status, headers } = await askPath(gateway.port, "/claw?x=1");
    assert.deepEqual([status, headers["location"]], [302, "/claw/?x=1"]);
    assert.match((await askPath(gateway.port, "/claw/chat")).text, /<!doctype html>/i);
  });
});
