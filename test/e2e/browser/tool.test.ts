// The browser tool as the tools index describes it: every action, profile rule and note, with a real browser.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type Answer, type BrowserGround } from "../../harness/browser.ts";
import { invoke, operator } from "../../harness/gateway.ts";
import type { WebAnswer } from "../../harness/web.ts";

const form = `<title>Form</title><h1>Form</h1>
  <label>Name <input id="name"></label>
  <label>Color <select id="color"><option>red<option>green</select></label>
  <label><input type="checkbox" id="agree"> Agree</label>
  <label>File <input type="file" id="file"></label>
  <button onclick="document.title = 'clicked'">Go</button>
  <button onmouseover="document.title = 'hovered'">Menu</button>
  <button onclick="document.getElementById('file').click()">Choose</button>
  <button onclick="document.title = prompt('who?') ?? 'nobody'">Ask</button>
  <div id="from" role="button" aria-label="From" draggable="true" style="width:80px;height:30px"
    ondragstart="event.dataTransfer.setData('text', 'x')">From</div>
  <div id="to" role="button" aria-label="To" style="width:80px;height:30px" ondragover="event.preventDefault()"
    ondrop="document.title = 'dropped'">To</div>
  <script>console.warn("take care")</script>`;

describe("browser tool", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  before(async () => {
    ground = await startBrowserGround();
    ground.web.page("/next", "<title>Next</title><p>Welcome</p><a href='/'>Back</a>");
  });
  after(() => ground?.close());

  const call = async (args: object): Promise<WebAnswer> => {
    const answer = await ground.browser(args);
    assert.ok(answer.ok, JSON.stringify(answer.error));
    return answer;
  };
  const act = (request: object): Promise<WebAnswer> => call({ action: "act", request });
  const evaluate = async (fn: string): Promise<unknown> => (await act({ kind: "evaluate", fn })).details["result"];
  const refusal = async (args: object): Promise<string> => {
    const { error } = await ground.browser(args);
    assert.ok(error, "it was not refused");
    return `${error.code}: ${error.message} ${error.hint}`;
  };
  const refs = async (options: object = {}): Promise<(name: string) => string> => {
    const { details } = await call({ action: "snapshot", ...options });
    const printed = details["snapshot"] as string;
    return (name) => {
      const ref = new RegExp(`${name}[^\\n]*? \\[(?:ref=)?(e?\\d+)\\]`).exec(printed)?.[1];
      assert.ok(ref, printed);
      return ref;
    };
  };
  const openForm = async (): Promise<(name: string) => string> => {
    await ground.open("/", form);
    return refs();
  };

  test("status shows the profile without starting it, start starts it, and stop ends it", async () => {
    assert.equal((await call({ action: "status" })).details["running"], false);
    assert.equal((await call({ action: "start" })).details["profile"], "openclaw");
    assert.equal((await call({ action: "status" })).details["running"], true);
    assert.equal((await call({ action: "stop" })).details["stopped"], true);
    assert.equal((await call({ action: "status" })).details["running"], false);
  });

  test("open, tabs, focus and close work on tabs by id", async () => {
    const { details: first } = await ground.open("/", form);
    const { details: second } = await call({ action: "open", targetUrl: ground.at("/next") });
    const { text, details } = await call({ action: "tabs" });
    assert.match(text, /pages\.test[^\n]*"Form"/);
    assert.ok((details["tabs"] as Answer[]).some(({ targetId }) => targetId === first["targetId"]));
    assert.equal((await call({ action: "focus", targetId: first["targetId"] })).details["targetId"], first["targetId"]);
    assert.equal((await call({ action: "snapshot" })).details["targetId"], first["targetId"], "the tab used last");
    await call({ action: "close", targetId: second["targetId"] });
    assert.match(await refusal({ action: "focus", targetId: second["targetId"] }), /tab not found/);
  });

  test("snapshot is ai by default, and aria gives the accessibility tree", async () => {
    await openForm();
    const ai = await call({ action: "snapshot" });
    assert.equal(ai.details["format"], "ai");
    assert.match(ai.text, /button "Go" \[\d+\]/);
    const aria = await call({ action: "snapshot", snapshotFormat: "aria" });
    assert.equal(aria.details["format"], "aria");
    assert.ok((aria.details["nodes"] as Answer[]).some(({ role, name }) => role === "button" && name === "Go"));
  });

  test("role snapshots print refs such as e12, with counts and nth for equal names", async () => {
    await ground.open("/twins", "<button>Same</button><main><button>Same</button><p>Text</p></main>");
    const { details, text } = await call({ action: "snapshot", interactive: true });
    assert.match(text, /button "Same" \[ref=e\d+\]/);
    assert.match(text, /\[nth=1\]/);
    const known = details["refs"] as Answer;
    assert.deepEqual(
      Object.values(known).map(({ role, name }) => [role, name]),
      [
        ["button", "Same"],
        ["button", "Same"],
      ],
    );
    const { lines, chars, refs: count, interactive } = details["stats"] as Answer;
    assert.deepEqual([lines, count, interactive, chars > 10], [2, 2, 2, true]);
    assert.doesNotMatch(text, /paragraph/);
    for (const option of [{ compact: true }, { depth: 3 }, { selector: "main" }])
      assert.match((await call({ action: "snapshot", ...option })).text, /\[ref=e\d+\]/, JSON.stringify(option));
    assert.equal((await call({ action: "snapshot", selector: "main" })).text.match(/button/g)?.length, 1);
  });

  test("labels add a picture with the refs drawn on it", async () => {
    await openForm();
    const { body } = await invoke(ground.gateway, "browser", { action: "snapshot", labels: true });
    const { content } = (body as { result: { content: Answer[] } }).result;
    const path = /^MEDIA:(.+)$/m.exec(content[0]?.["text"])?.[1];
    assert.ok(path !== undefined && existsSync(path), content[0]?.["text"]);
    assert.equal(content[1]?.["type"], "image");
  });

  test("screenshot returns an image block and MEDIA:<path>", async () => {
    const { body } = await invoke(ground.gateway, "browser", { action: "screenshot" });
    const { content } = (body as { result: { content: Answer[] } }).result;
    const path = /^MEDIA:(.+)$/m.exec(content[0]?.["text"])?.[1] ?? "";
    assert.equal(readFileSync(path).subarray(1, 4).toString(), "PNG");
    assert.deepEqual([content[1]?.["type"], content[1]?.["mimeType"]], ["image", "image/png"]);
    assert.match(await refusal({ action: "screenshot", fullPage: true, element: "h1" }), /fullPage is not supported/);
  });

  test("act clicks, types, presses, hovers, drags, selects, fills, resizes, waits and evaluates", async () => {
    const ref = await openForm();
    const title = "() => document.title";
    await act({ kind: "click", ref: ref('button "Go"') });
    assert.equal(await evaluate(title), "clicked");
    await act({ kind: "type", ref: ref('textbox "Name"'), text: "Ann" });
    await act({ kind: "press", key: "End" });
    await act({ kind: "press", key: "!" });
    assert.equal(await evaluate("() => document.getElementById('name').value"), "Ann!");
    await act({ kind: "hover", ref: ref('button "Menu"') });
    assert.equal(await evaluate(title), "hovered");
    await act({ kind: "drag", startRef: ref('button "From"'), endRef: ref('button "To"') });
    assert.equal(await evaluate(title), "dropped");
    await act({ kind: "select", ref: ref('combobox "Color"'), values: ["green"] });
    await act({ kind: "fill", fields: [{ ref: ref('checkbox "Agree"'), type: "checkbox", value: true }] });
    const state = "() => [document.getElementById('color').value, document.getElementById('agree').checked]";
    assert.deepEqual(await evaluate(state), ["green", true]);
    await act({ kind: "resize", width: 700, height: 500 });
    assert.deepEqual(await evaluate("() => [innerWidth, innerHeight]"), [700, 500]);
    await act({ kind: "wait", text: "Form", selector: "#name", loadState: "load" });
    assert.equal(await evaluate("1 + 1"), 2);
    assert.equal(
      (await act({ kind: "evaluate", ref: ref('textbox "Name"'), fn: "(el) => el.id" })).details["result"],
      "name",
    );
  });

  test("act takes 12 of ai snapshots and e12 of role snapshots, but no CSS selector", async () => {
    const numbers = await openForm();
    assert.match(numbers('button "Go"'), /^\d+$/);
    await act({ kind: "click", ref: Number(numbers('button "Go"')) });
    const roles = await refs({ interactive: true });
    assert.match(roles('button "Go"'), /^e\d+$/);
    await act({ kind: "click", ref: roles('button "Go"') });
    assert.match(
      await refusal({ action: "act", request: { kind: "click", selector: "button" } }),
      /takes a ref from a snapshot/,
    );
  });

  test("a ref ends when the page navigates, and the error says to take a snapshot", async () => {
    const ref = await openForm();
    const go = ref('button "Go"');
    const { text } = await call({ action: "navigate", targetUrl: ground.at("/next") });
    assert.match(text, /Welcome/, "navigate says what changed");
    assert.match(
      await refusal({ action: "act", request: { kind: "click", ref: go } }),
      /ref \d+ is gone[^]*new snapshot/,
    );
  });

  test("console, pdf and navigate answer for the tab that was used last", async () => {
    await openForm();
    assert.match((await call({ action: "console", level: "warn" })).text, /warning: take care/);
    const path = /^FILE:(.+)$/m.exec((await call({ action: "pdf" })).text)?.[1] ?? "";
    assert.equal(readFileSync(path).subarray(0, 4).toString(), "%PDF");
    const { details } = await call({ action: "navigate", targetUrl: ground.at("/next") });
    assert.equal(details["url"], ground.at("/next"));
  });

  test("upload clicks ref after arming, or sets the input of inputRef or element", async () => {
    const ref = await openForm();
    const file = join(ground.gateway.workspace, "report.txt");
    mkdirSync(ground.gateway.workspace, { recursive: true });
    writeFileSync(file, "report");
    const name = "() => document.getElementById('file').files[0]?.name ?? null";
    const ways = [{ ref: ref('button "Choose"') }, { inputRef: ref('button "File"') }, { element: "#file" }];
    for (const way of ways) {
      await evaluate("() => { document.getElementById('file').value = ''; }");
      await call({ action: "upload", paths: [file], ...way });
      await act({ kind: "wait", fn: `() => (${name})() !== null` });
      assert.equal(await evaluate(name), "report.txt", JSON.stringify(way));
    }
    await evaluate("() => { document.getElementById('file').value = ''; }");
    await call({ action: "upload", paths: [file] });
    await act({ kind: "click", ref: ref('button "Choose"') });
    await act({ kind: "wait", fn: `() => (${name})() !== null` });
    assert.match(
      await refusal({ action: "upload", paths: ["/etc/passwd"], element: "#file" }),
      /outside of the folders/,
    );
  });

  test("dialog answers the next dialog, and a dialog nobody prepared for does not hang the page", async () => {
    const ref = await openForm();
    await call({ action: "dialog", accept: true, promptText: "Cleo" });
    await act({ kind: "click", ref: ref('button "Ask"') });
    assert.equal(await evaluate("() => document.title"), "Cleo");
    await call({ action: "dialog", accept: false });
    await act({ kind: "click", ref: ref('button "Ask"') });
    assert.equal(await evaluate("() => document.title"), "nobody");
    const { text } = await act({ kind: "click", ref: ref('button "Ask"') });
    assert.match(text, /prompt dialog dismissed \(not armed\): who\?/);
  });

  test("profiles lists all profiles; create-profile takes a port or a cdpUrl; delete-profile removes data and config", async () => {
    const { details: made } = await call({ action: "create-profile", name: "work" });
    const port = Number(made["cdpPort"]) - ground.gateway.port;
    assert.ok(port >= 11 && port <= 110, "18800 to 18899 with the default port 18789");
    const { details: far } = await call({
      action: "create-profile",
      name: "far",
      cdpUrl: "http://pages.test:9222?token=abcdef",
    });
    assert.deepEqual([far["isRemote"], far["cdpUrl"]], [true, "http://pages.test:9222?token=***"]);
    await call({ action: "delete-profile", name: "far" });
    await call({ action: "start", profile: "work" });
    const { details } = await call({ action: "profiles" });
    const listed = (details["profiles"] as Answer[]).map(({ name, running, isDefault }) => [name, running, isDefault]);
    assert.deepEqual(
      listed.toSorted(([a], [b]) => String(a).localeCompare(String(b))),
      [
        ["chrome", false, false],
        ["openclaw", true, true],
        ["work", true, false],
      ],
    );
    const config = (): Answer => JSON.parse(readFileSync(join(ground.gateway.state, "openclaw.json"), "utf8"));
    assert.equal(config()["browser"].profiles.work.cdpPort, made["cdpPort"]);
    const data = join(ground.gateway.state, "browser", "work");
    assert.ok(existsSync(data));
    await call({ action: "delete-profile", name: "work" });
    assert.ok(!existsSync(data), "its data is gone");
    assert.equal(config()["browser"].profiles.work, undefined);
    assert.match(await refusal({ action: "start", profile: "work" }), /no browser profile "work"/);
  });

  test("reset-profile ends the process that holds the profile", async () => {
    await openForm();
    assert.ok(Number((await call({ action: "status" })).details["pid"]) > 0);
    assert.equal((await call({ action: "reset-profile" })).details["killed"], 1);
    const { details } = await call({ action: "status" });
    assert.deepEqual([details["running"], details["pid"]], [false, null]);
    assert.equal((await call({ action: "reset-profile" })).details["killed"], 0);
  });

  test("profile names have 1 to 64 lower-case letters, digits and hyphens", async () => {
    for (const name of ["Work", "two words", "-start", "ünï", "a".repeat(65), "../up"])
      assert.match(await refusal({ action: "create-profile", name }), /bad-profile-name/, name);
    await call({ action: "create-profile", name: "a".repeat(64) });
    await call({ action: "delete-profile", name: "a".repeat(64) });
    assert.match(await refusal({ action: "create-profile", name: "chrome" }), /already exists/);
    assert.match(await refusal({ action: "delete-profile", name: "openclaw" }), /built in/);
  });

  test("every action takes a profile, and profiles do not share tabs or logins", async () => {
    await call({ action: "create-profile", name: "other" });
    const profile = "other";
    await openForm();
    await evaluate("() => { document.cookie = 'login=me'; }");
    await call({ action: "open", targetUrl: ground.at("/next"), profile });
    assert.doesNotMatch((await call({ action: "tabs", profile })).text, /"Form"/);
    const request = { kind: "evaluate", fn: "() => document.cookie" };
    assert.equal((await call({ action: "act", request, profile })).details["result"], "");
    assert.match((await call({ action: "snapshot", profile })).text, /Welcome/);
    await call({ action: "delete-profile", name: "other" });
  });

  test("the recommended flow works: status, start, snapshot, act, screenshot", async () => {
    await call({ action: "status" });
    await call({ action: "start" });
    const ref = await openForm();
    await act({ kind: "type", ref: ref('textbox "Name"'), text: "Ann" });
    await act({ kind: "click", ref: ref('button "Go"') });
    assert.match((await call({ action: "screenshot" })).text, /MEDIA:/);
  });

  test("its description says to avoid wait, and to take refs from a snapshot", async () => {
    const wire = await operator(ground.gateway);
    const { tools } = (await wire.call("tools.catalog", {})) as unknown as { tools: Answer[] };
    wire.end();
    const { description } = tools.find(({ name }) => name === "browser") ?? {};
    assert.match(description, /Avoid kind=wait/);
    assert.match(description, /act on elements by the ref that snapshot prints/);
  });

  test("names what is missing or unknown", async () => {
    assert.match(await refusal({ action: "zzz" }), /status, start, stop/);
    assert.match(await refusal({ action: "open" }), /targetUrl required/);
    assert.match(await refusal({ action: "act" }), /request required/);
    assert.match(await refusal({ action: "focus" }), /targetId required/);
    assert.match(await refusal({ action: "tabs", target: "custom" }), /sandbox, host, node/);
    assert.match(await refusal({ action: "tabs", profile: "nobody" }), /no browser profile "nobody"/);
  });
});

describe("browser tool with other settings", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  before(async () => {
    ground = await startBrowserGround({
      browser: {
        evaluateEnabled: false,
        defaultProfile: undefined,
        profiles: { far: { cdpUrl: "http://far.test:9222" } },
      },
    });
  });
  after(() => ground?.close());
  const refusal = async (args: object): Promise<string> => {
    const { error } = await ground.browser(args);
    return `${error?.code}: ${error?.message} ${error?.hint}`;
  };

  test("uses the profile chrome when neither the call nor the config names one", async () => {
    assert.equal((await ground.browser({ action: "status" })).details["profile"], "chrome");
    assert.match(
      await refusal({ action: "tabs", target: "host" }).then(() => refusal({ action: "snapshot" })),
      /no tab is connected[^]*openclaw/,
    );
  });

  test("remote profiles are only attached to: start, stop and reset are refused", async () => {
    for (const action of ["start", "stop", "reset-profile"])
      assert.match(await refusal({ action, profile: "far" }), /browser\.remote-profile/, action);
  });

  test("evaluateEnabled false refuses evaluate and wait with fn, and names the key", async () => {
    for (const request of [
      { kind: "evaluate", fn: "1" },
      { kind: "wait", fn: "() => true" },
    ])
      assert.match(
        await refusal({ action: "act", profile: "openclaw", request }),
        /evaluate-disabled[^]*browser\.evaluateEnabled/,
      );
  });
});

describe("browser tool with a full range of ports", { skip: noBrowser }, () => {
  test("100 ports are enough for about 100 profiles, and the error of one more says what to do", async () => {
    const names = Array.from({ length: 99 }, (_, at) => `p${at}`);
    const ground = await startBrowserGround({
      browser: { profiles: Object.fromEntries(names.map((name) => [name, {}])) },
    });
    try {
      const { details } = await ground.browser({ action: "profiles" });
      const ports = (details["profiles"] as Answer[]).map(({ cdpPort }) => cdpPort as number);
      assert.equal(new Set(ports).size, 101, "each has its own, and chrome has the relay's");
      const full = await ground.browser({ action: "create-profile", name: "one-more" });
      assert.match(
        `${full.error?.message} ${full.error?.hint}`,
        /all ports for browser profiles are in use[^]*delete-profile/,
      );
    } finally {
      await ground.close();
    }
  });
});

describe("browser tool under a tool policy", { skip: noBrowser }, () => {
  const isOffered = async (tools: object): Promise<boolean> => {
    const ground = await startBrowserGround({ tools: { profile: "full", ...tools } });
    try {
      return (await ground.browser({ action: "profiles" })).ok;
    } finally {
      await ground.close();
    }
  };

  test("group:ui and browser are names of it in allow and deny lists", async () => {
    const offered = await Promise.all([
      isOffered({ deny: ["browser"] }),
      isOffered({ deny: ["group:ui"] }),
      isOffered({ allow: ["group:fs", "browser"] }),
      isOffered({ allow: ["group:fs"] }),
    ]);
    assert.deepEqual(offered, [false, false, true, false]);
  });
});
