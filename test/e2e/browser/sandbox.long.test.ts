// The browser inside the sandbox of a session: real Chromium in real bubblewrap, through /tools/invoke.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { browsersIn, noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { invoke, openclaw } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";
import type { WebAnswer } from "../../harness/web.ts";

const sandboxed = (browser: object, rest: object = {}): object => ({
  agents: { defaults: { sandbox: { mode: "non-main", backend: "bubblewrap", browser } }, ...rest },
});

/** `main` is not sandboxed, every other session is. */
const session = { body: { sessionKey: "agent:main:work" } };

describe("browser in a sandbox", { skip: noBrowser || noBubblewrap }, () => {
  let ground: BrowserGround;
  const hits: string[] = [];
  const secret = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*").end("host secret");
  });
  const inSandbox = (args: object): Promise<WebAnswer> => ground.call("browser", args, session.body);
  const evaluate = async (fn: string): Promise<string> => {
    const answer = await inSandbox({ action: "act", request: { kind: "evaluate", fn } });
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.text;
  };

  before(async () => {
    await new Promise<void>((resolve) => secret.listen(0, "127.0.0.1", resolve));
    ground = await startBrowserGround({
      tools: { sandbox: { tools: { allow: ["*"], deny: [] } } },
      config: sandboxed({ enabled: true }),
    });
    ground.web.page("/", `<title>Inner</title><h1>Hello sandbox</h1><button>Go</button>`);
  });
  after(async () => {
    await ground.close();
    secret.close();
    assert.deepEqual(browsersIn(ground.gateway.state), [], "no browser outlives its gateway");
  });

  test("is the default of a sandboxed session and reads an allowed page", async () => {
    const opened = await inSandbox({ action: "open", targetUrl: ground.at("/") });
    assert.ok(opened.ok, JSON.stringify(opened));
    const snapshot = await inSandbox({ action: "snapshot" });
    assert.match(snapshot.text, /Hello sandbox/);
    const shot = await inSandbox({ action: "screenshot", target: "sandbox" });
    assert.match(shot.text, /MEDIA:/, JSON.stringify(shot));
    const host = await ground.browser({ action: "tabs" });
    assert.deepEqual(host.details["tabs"], [], "the browser of the host does not run");
  });

  test("runs in its own network, process and mount namespaces", () => {
    const [pid] = browsersIn(ground.gateway.state).filter((one) => /chrom/.test(comm(one)));
    assert.ok(pid !== undefined);
    for (const kind of ["net", "pid", "mnt", "user", "ipc"])
      assert.notEqual(namespaceOf(pid, kind), namespaceOf(process.pid, kind), kind);
  });

  test("cannot reach a server on loopback of the host", async () => {
    const { port } = secret.address() as AddressInfo;
    for (const url of [`http://127.0.0.1:${port}/a`, `http://localhost:${port}/b`, `http://[::1]:${port}/c`]) {
      const { error } = await inSandbox({ action: "navigate", targetUrl: url });
      assert.equal(error?.code, "browser.blocked", JSON.stringify(error));
    }
    await inSandbox({ action: "navigate", targetUrl: ground.at("/") });
    const fetched = await evaluate(
      `async () => {
        const urls = ["http://127.0.0.1:${port}/d", "http://localhost:${port}/e", "http://0.0.0.0:${port}/f"];
        const read = (url) => fetch(url).then((answer) => answer.text(), (error) => "failed: " + error.message);
        return (await Promise.all(urls.map(read))).join(" | ");
      }`,
    );
    assert.doesNotMatch(fetched, /host secret/);
    const frame = `<iframe src="http://127.0.0.1:${port}/g"></iframe>`;
    ground.web.page("/frame", frame);
    await inSandbox({ action: "navigate", targetUrl: ground.at("/frame") });
    assert.doesNotMatch((await inSandbox({ action: "snapshot" })).text, /host secret/);
    assert.ok((await inSandbox({ action: "open", targetUrl: ground.at("/") })).ok);
    assert.deepEqual(hits, [], "no request arrived");
  });

  test("cannot reach the gateway and its own debugging port", async () => {
    const text = await evaluate(
      `async () => {
        const read = (url) => fetch(url, { mode: "no-cors" }).then(() => "reached", () => "failed");
        const dial = (url) => new Promise((resolve) => {
          const socket = new WebSocket(url);
          socket.onopen = () => resolve("reached");
          socket.onerror = () => resolve("failed");
        });
        return [
          await dial("ws://127.0.0.1:${ground.gateway.port}/"),
          await dial("ws://127.0.0.1:9222/devtools/browser"),
          await read("https://127.0.0.1:9222/json/version"),
        ].join();
      }`,
    );
    assert.match(text, /failed,failed,failed/);
  });

  test("cannot read files of the host", async () => {
    const { error } = await inSandbox({ action: "navigate", targetUrl: "file:///etc/hostname" });
    assert.equal(error?.code, "browser.blocked", JSON.stringify(error));
    const [pid] = browsersIn(ground.gateway.state).filter((one) => /chrom/.test(comm(one)));
    assert.equal(readFileSync(`/proc/${pid}/root/etc/hostname`, "utf8"), "sandbox\n");
    mkdirSync(ground.gateway.workspace, { recursive: true });
    writeFileSync(join(ground.gateway.workspace, "secret.txt"), "of the agent");
    const hidden = [ground.gateway.workspace, "/workspace"].map((folder) => join(folder, "secret.txt"));
    for (const path of [...hidden, join(ground.gateway.state, "openclaw.json"), process.execPath])
      assert.ok(!isThere(`/proc/${pid}/root${path}`), path);
    for (const path of ["/root", "/home"])
      assert.deepEqual(
        listed(`/proc/${pid}/root${path}`).filter((name) => !known.has(name)),
        [],
        path,
      );
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    assert.ok(!environment.includes(ground.gateway.token) && /HOME=\/home\/sandbox/.test(environment), environment);
  });

  test("leaves the host and its nodes only with allowHostControl, and the error names the key", async () => {
    for (const args of [{ target: "host" }, { target: "node" }, { profile: "chrome" }]) {
      const { error } = await inSandbox({ action: "status", ...args });
      assert.equal(error?.code, "browser.bad-target", JSON.stringify(error));
      assert.match(error?.message ?? "", /agents\.defaults\.sandbox\.browser\.allowHostControl is false/);
    }
    const outside = await ground.browser({ action: "status", target: "sandbox" });
    assert.match(outside.error?.message ?? "", /not sandboxed/);
  });

  test("has one profile of its own, and makes no others", async () => {
    const { details } = await inSandbox({ action: "profiles" });
    assert.deepEqual(
      (details["profiles"] as { name: string }[]).map(({ name }) => name),
      ["openclaw"],
    );
    const made = await inSandbox({ action: "create-profile", options: { name: "other" } });
    assert.equal(made.ok, false, JSON.stringify(made));
  });

  test("uploads a file of the session's workspace, and no other", async () => {
    ground.web.page("/form", `<input type=file>`);
    const { body } = await invoke(
      ground.gateway,
      "write",
      { path: "note.txt", content: "from the workspace" },
      session,
    );
    assert.ok((body as { ok: boolean }).ok, JSON.stringify(body));
    assert.ok((await inSandbox({ action: "navigate", targetUrl: ground.at("/form") })).ok);
    const upload = (path: string) => inSandbox({ action: "upload", options: { paths: [path], element: "input" } });
    const done = await upload("/workspace/note.txt");
    assert.ok(done.ok, JSON.stringify(done));
    assert.match(await evaluate(`() => document.querySelector("input").files[0].text()`), /from the workspace/);
    assert.equal((await upload("/etc/hostname")).error?.code, "browser.upload-denied");
  });

  test("survives the end of its browser and a removed sandbox", async () => {
    const [pid] = browsersIn(ground.gateway.state).filter((one) => /bwrap/.test(comm(one)));
    assert.ok(pid !== undefined);
    process.kill(pid, "SIGKILL");
    await inSandbox({ action: "tabs" });
    // The call that meets the dying browser may say so; the next one works.
    const open = () => inSandbox({ action: "open", targetUrl: ground.at("/") });
    const first = await open();
    assert.ok(first.ok || first.error?.code === "browser.gone", JSON.stringify(first));
    const restarted = await open();
    assert.ok(restarted.ok, JSON.stringify(restarted));
    const listed = await openclaw(ground.gateway.home, ["sandbox", "list", "--browser", "--json"]);
    assert.equal((JSON.parse(listed.stdout) as { sandboxes: unknown[] }).sandboxes.length, 1, listed.stdout);
    const removed = await openclaw(ground.gateway.home, ["sandbox", "recreate", "--all", "--browser", "--force"]);
    assert.equal(removed.code, 0, removed.stderr);
    const again = await open();
    assert.ok(again.ok, JSON.stringify(again));
  });
});

/** Folders that only lead to the data of the browser. */
const known: ReadonlySet<string> = new Set([".openclaw", "sandbox"]);

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // not there at all
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const comm = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8");
const namespaceOf = (pid: number, kind: string): string => readlinkSync(`/proc/${pid}/ns/${kind}`);
