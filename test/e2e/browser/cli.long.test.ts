// `openclaw browser`: every group of commands against a real browser, as text and as JSON.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type Answer, type BrowserGround } from "../../harness/browser.ts";
import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";

describe("openclaw browser", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let cli: Cli;
  let folder: string;
  before(async () => {
    ground = await startBrowserGround();
    cli = newCli(undefined, ground.gateway.home);
    folder = mkdtempSync(join(tmpdir(), "openclaw-browser-cli-"));
    ground.web.page(
      "/",
      `<title>Form</title><h1>Form</h1>
       <label>Name <input id="name" onchange="document.title = this.value"></label>
       <label>Color <select><option>red<option>green</select></label>
       <label><input type="checkbox"> Agree</label>
       <label>File <input type="file" onchange="document.title = this.files[0].name"></label>
       <button onclick="this.textContent = prompt('who?') ?? 'nobody'">Ask</button>
       <a href="/notes.txt" download="notes.txt">Get</a>
       <script>console.error("a problem"); setTimeout(() => { throw new Error("uncaught one") })</script>`,
    );
    ground.web.page("/notes.txt", "the notes", "application/octet-stream");
    ground.web.page("/next", "<title>Next</title><p>Welcome</p>");
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await ground?.close();
  });

  const text = async (...words: string[]): Promise<string> => wellEnded(await cli.run("browser", ...words)).trim();
  const json = async (...words: string[]): Promise<Answer> => JSON.parse(await text(...words, "--json")) as Answer;
  const refOf = async (pattern: string): Promise<string> => {
    const printed = await text("snapshot");
    const ref = new RegExp(`${pattern} \\[(\\d+)\\]`).exec(printed)?.[1];
    assert.ok(ref, printed);
    return ref;
  };

  test("status and profiles show what runs, and start nothing", async () => {
    assert.match(await text("status"), /^Profile +openclaw\nState +stopped\n/);
    assert.match(await text(), /^Profile +openclaw\n/, "status is the default");
    assert.match(await text("profiles"), /openclaw \(default\) +stopped/);
    const { profiles } = await json("profiles");
    assert.deepEqual(profiles.map(({ name }: Answer) => name).toSorted(), ["chrome", "openclaw"]);
    assert.equal((await json("--browser-profile", "chrome", "status"))["profile"], "chrome");
    assert.equal((await json("status", "--browser-profile=chrome"))["profile"], "chrome");
    const wrong = await cli.run("browser", "--browser-profile", "nobody", "status");
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /no browser profile "nobody"[^]*fix: openclaw browser create-profile --name nobody/);
  });

  test("start, open, tabs, focus and close", async () => {
    assert.equal((await json("start"))["running"], true);
    const opened = await json("open", ground.at("/"));
    assert.equal(opened["url"], ground.at("/"));
    assert.match(await text("tabs"), new RegExp(`${opened["targetId"]} +Form +${ground.at("/")}`));
    assert.match(await text("tab", "new"), /^Opened about:blank in tab /);
    const { tabs } = await json("tab");
    const at = tabs.findIndex(({ targetId }: Answer) => targetId === opened["targetId"]) + 1;
    const blank = tabs.findLastIndex(({ url }: Answer) => url === "about:blank") + 1;
    await text("tab", "close", String(blank));
    assert.equal((await json("tabs"))["tabs"].length, tabs.length - 1);
    assert.equal((await json("focus", opened["targetId"].slice(0, 8)))["targetId"], opened["targetId"]);
    const far = await cli.run("browser", "tab", "select", "99");
    assert.match(far.stderr, /there is no tab 99[^]*fix: openclaw browser tabs/);
    assert.ok(at > 0);
  });

  test("snapshot prints the page, also as accessibility tree, to a file and with labels", async () => {
    assert.match(await text("snapshot"), /button "Ask" \[\d+\]/);
    assert.match(await text("snapshot", "--interactive"), /button "Ask" \[ref=e\d+\]/);
    assert.match(await text("snapshot", "--format", "aria"), /- button "Ask"/);
    const out = join(folder, "page.txt");
    assert.equal(await text("snapshot", "--out", out), out);
    assert.match(readFileSync(out, "utf8"), /button "Ask"/);
    const labeled = await text("snapshot", "--labels");
    assert.ok(existsSync(/^MEDIA:(.+)$/m.exec(labeled)?.[1] ?? ""), labeled);
  });

  test("screenshot and pdf save files and print where", async () => {
    const png = await text("screenshot");
    assert.equal(
      readFileSync(png.replace(/^MEDIA:/, ""))
        .subarray(1, 4)
        .toString(),
      "PNG",
    );
    const { path } = await json("screenshot", "--full-page", "--type", "jpeg");
    assert.equal(readFileSync(path).subarray(0, 2).toString("hex"), "ffd8");
    const pdf = await text("pdf");
    assert.equal(
      readFileSync(pdf.replace(/^FILE:/, ""))
        .subarray(0, 4)
        .toString(),
      "%PDF",
    );
  });

  test("click, type, press, select, fill and evaluate act on the page", async () => {
    assert.match(await text("type", await refOf('textbox "Name"'), "Ann", "--submit"), /^Done; the page is /);
    assert.equal(await text("evaluate", "--fn", "() => document.querySelector('#name').value"), '"Ann"');
    await text("select", await refOf('combobox "Color"'), "green");
    assert.equal((await json("evaluate", "--fn", "() => document.querySelector('select').value"))["result"], "green");
    const fields = JSON.stringify([
      { ref: await refOf('checkbox "Agree"'), type: "checkbox", value: true },
      { ref: await refOf('textbox "Name"'), value: "Bo" },
    ]);
    await text("fill", "--fields", fields);
    const state = "() => [document.querySelector('[type=checkbox]').checked, document.querySelector('#name').value]";
    assert.deepEqual((await json("evaluate", "--fn", state))["result"], [true, "Bo"]);
    await text("hover", await refOf('button "Ask"'));
    await text("scrollintoview", await refOf('button "Ask"'));
    await text("press", "Tab");
    await text("resize", "900", "700");
    assert.deepEqual((await json("evaluate", "--fn", "() => [innerWidth, innerHeight]"))["result"], [900, 700]);
    const stale = await cli.run("browser", "click", "e999", "--json");
    assert.equal(stale.code, 1);
    assert.match(stale.stdout, /Unknown ref/);
  });

  test("wait ends when its conditions hold, and fails in time when they do not", async () => {
    assert.match(await text("wait", "h1", "--text", "Form", "--url", "**/", "--load", "load"), /^Done/);
    const late = await cli.run("browser", "wait", "--text", "never there", "--timeout-ms", "200");
    assert.equal(late.code, 1);
    assert.match(late.stderr, /did not finish within 200 ms/);
  });

  test("dialog and upload prepare the answer to what a click opens", async () => {
    assert.match(await text("dialog", "--accept", "--prompt", "Cleo"), /^The next dialog is accepted/);
    await text("click", await refOf('button "Ask"'));
    assert.match(await text("snapshot"), /button "Cleo"/);
    const file = join(folder, "report.txt");
    writeFileSync(file, "report");
    assert.equal(await text("upload", file, "--element", "input[type=file]"), "Uploaded 1 file(s).");
    assert.equal((await json("evaluate", "--fn", "() => document.title"))["result"], "report.txt");
    const both = await cli.run("browser", "dialog");
    assert.deepEqual([both.code, both.stderr.split("\n", 1)[0]], [2, "give --accept or --dismiss"]);
  });

  test("console, errors and requests show what happened on the page", async () => {
    await text("navigate", ground.at("/"));
    assert.match(await text("console", "--level", "error"), /^error: a problem/m);
    assert.match(await text("errors", "--clear"), /uncaught one/);
    assert.equal(await text("errors"), "No errors.");
    assert.match(await text("requests", "--filter", "pages.test"), /^GET 200 http:\/\/pages\.test/m);
  });

  test("download copies the file to where the caller asks", async () => {
    const to = join(folder, "mine.txt");
    const { download } = await json("download", await refOf('link "Get"'), to);
    assert.deepEqual([download.path, download.suggestedFilename], [to, "notes.txt"]);
    assert.equal(readFileSync(to, "utf8"), "the notes");
  });

  test("cookies, storage and set change what pages see", async () => {
    await text("cookies", "set", "theme", "dark", "--url", ground.at("/"));
    assert.match(await text("cookies"), /^pages\.test theme=dark$/m);
    await text("cookies", "clear");
    assert.equal(await text("cookies"), "No cookies.");
    await text("storage", "local", "set", "k", "v");
    assert.equal(await text("storage", "local"), "k=v");
    await text("storage", "local", "clear");
    assert.equal(await text("storage", "local", "get"), "No entries.");
    assert.equal(await text("set", "timezone", "Asia/Tokyo"), "Done.");
    assert.equal(await text("set", "media", "dark"), "Done.");
    assert.equal((await json("set", "headers", '{"X-Debug": "1"}'))["ok"], true);
    await text("navigate", ground.at("/next"));
    assert.equal(ground.web.requests.at(-1)?.headers["x-debug"], "1");
    assert.equal(await text("set", "headers", "--clear"), "Done.");
    const wrong = await cli.run("browser", "set", "offline", "maybe");
    assert.deepEqual([wrong.code, wrong.stderr.split("\n", 1)[0]], [2, '<state> must be on or off, not "maybe"']);
  });

  test("trace records what happens and saves it where the caller asks", async () => {
    await text("trace", "start");
    const out = join(folder, "trace.zip");
    assert.equal(await text("trace", "stop", "--out", out), `TRACE:${out}`);
    assert.equal(readFileSync(out).subarray(0, 2).toString(), "PK");
  });

  test("extension install copies the extension into the state folder, and path prints it", async () => {
    const before = await cli.run("browser", "extension", "path");
    assert.equal(before.code, 1);
    const { path, port } = await json("extension", "install");
    assert.equal(port, ground.gateway.port + 3);
    assert.ok(path.startsWith(ground.gateway.state), path);
    assert.ok(existsSync(join(path, "manifest.json")));
    assert.equal(await text("extension", "path"), path);
  });

  test("create-profile adds a browser with its own data, and delete-profile moves that data to the trash", async () => {
    assert.match(
      await text("create-profile", "--name", "work", "--color", "#00AA00"),
      /^Created profile work \(port \d+\)\.$/,
    );
    assert.match(await text("profiles"), /work +stopped +port \d+ +#00AA00/);
    const taken = await cli.run("browser", "create-profile", "--name", "work");
    assert.match(taken.stderr, /"work" already exists/);
    const bad = await cli.run("browser", "create-profile", "--name", "Not Good");
    assert.match(bad.stderr, /1 to 64 lower-case letters/);
    assert.equal((await json("--browser-profile", "work", "start"))["profile"], "work");
    const { trash } = await json("delete-profile", "--name", "work");
    assert.ok(existsSync(trash), trash);
    assert.doesNotMatch(await text("profiles"), /work/);
  });

  test("close and stop end the tab and the browser", async () => {
    const { tabs } = await json("tabs");
    assert.equal(await text("close", tabs[0].targetId), "Closed.");
    assert.equal((await json("stop"))["running"], false);
    assert.match(await text("status"), /State +stopped/);
    assert.equal(await text("reset-profile"), "Nothing to reset.");
  });
});
