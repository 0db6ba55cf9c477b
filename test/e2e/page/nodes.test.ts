// The Nodes view, with a real gateway, a real browser and scripted nodes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";

import type { Browser, Locator, Page } from "playwright-core";

import { exec, until, writeApprovals } from "../../harness/exec.ts";
import {
  dispose,
  freePort,
  newIdentity,
  startGateway,
  tempHome,
  Wire,
  type TestGateway,
} from "../../harness/gateway.ts";
import { ranFine, scriptedNode, type Asked, type NodeReply, type ScriptedNode } from "../../harness/node.ts";
import {
  desktop,
  ensurePage,
  launchBrowser,
  noBrowser,
  openLinked,
  phone,
  type ContextOptions,
  type Opened,
} from "../../harness/page.ts";

const runs = ["system.run", "system.which"];
const editable = [...runs, "system.execApprovals.get", "system.execApprovals.set"];

describe("the Nodes view", { skip: noBrowser }, () => {
  let browser: Browser;
  let shots: string;
  let gateways: TestGateway[] = [];
  let opened: Opened[] = [];
  let nodes: ScriptedNode[] = [];

  before(async () => {
    await ensurePage();
    shots = process.env["OPENCLAW_TEST_SHOTS"] ?? mkdtempSync(join(tmpdir(), "openclaw-page-nodes-"));
    browser = await launchBrowser();
  });
  after(() => browser.close());
  beforeEach(() => {
    [gateways, opened, nodes] = [[], [], []];
  });
  afterEach(async () => {
    for (const node of nodes) node.end();
    await Promise.all(opened.map(({ context }) => context.close()));
    await Promise.all(gateways.map(dispose));
  });

  const start = async (plan?: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
    const gateway = await startGateway(plan);
    gateways.push(gateway);
    return gateway;
  };
  const comes = async (gateway: TestGateway, plan: Parameters<typeof scriptedNode>[1]): Promise<ScriptedNode> => {
    const node = await scriptedNode(gateway, plan);
    nodes.push(node);
    return node;
  };
  const open = async (gateway: TestGateway, options?: ContextOptions): Promise<Page> => {
    const linked = await openLinked(browser, gateway, options);
    opened.push(linked);
    await linked.page.goto(`${gateway.url}/#/nodes`);
    await linked.page.getByRole("heading", { name: "Nodes", level: 1 }).waitFor();
    return linked.page;
  };
  const card = (page: Page, name: string): Locator => page.getByRole("region", { name });
  /** A page that reconnects after a restart may try too early. */
  const noFaults = (): void =>
    assert.deepEqual(
      opened[0]?.pageErrors.filter((pageError) => !pageError.startsWith("WebSocket connection to")),
      [],
    );

  test("shows how to pair a first node, approves and rejects requests, and lists the commands of a node", async () => {
    const gateway = await start();
    const page = await open(gateway);
    const machines = card(page, "Paired nodes");
    await machines.getByText(`openclaw node run --host 127.0.0.1 --port ${gateway.port}`, { exact: true }).waitFor();
    await page.screenshot({ path: join(shots, "nodes-empty.png"), fullPage: true });

    const remote = { headers: { "x-forwarded-for": "203.0.113.9" } };
    const name = 'Ada\u202e <img src=x onerror="document.title=1">';
    const client = { id: "node-host", displayName: name, version: "2026.2.9", platform: "linux", mode: "node" };
    const extra = {
      caps: ["camera", "system"],
      commands: ["camera.snap", "system.run"],
      permissions: { camera: true, screenRecording: false },
    };
    const [wanted, unwanted] = [newIdentity(), newIdentity()];
    for (const identity of [wanted, unwanted]) {
      const node = new Wire(gateway.port, remote);
      const answer = await node.connect({ token: gateway.token, identity, role: "node", scopes: [], client, extra });
      assert.equal(answer.error?.message, "pairing required");
      node.end();
    }
    const devices = card(page, "Devices");
    const asking = (id: string): Locator => devices.getByRole("listitem").filter({ hasText: id.slice(0, 12) });
    await asking(unwanted.id).getByText("requests role node").waitFor();
    await asking(unwanted.id)
      .getByText('Ada\\u{202e} <img src=x onerror="document.title=1">', { exact: true })
      .waitFor();
    await page.screenshot({ path: join(shots, "nodes-asking.png"), fullPage: true });
    await asking(unwanted.id).getByRole("button", { name: "Reject" }).click();
    await asking(unwanted.id).waitFor({ state: "detached" });
    await asking(wanted.id).getByRole("button", { name: "Approve" }).click();
    await asking(wanted.id).getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
    await machines.getByText("offline", { exact: true }).waitFor();

    const node = await comes(gateway, {
      identity: wanted,
      socket: remote,
      connect: {
        client,
        extra,
      },
    });
    await machines.getByText("online", { exact: true }).waitFor();
    const row = machines.getByRole("listitem");
    assert.equal(await row.count(), 1);
    const text = await row.innerText();
    for (const fact of [
      "version 2026.2.9",
      wanted.id.slice(0, 12),
      "camera.snap",
      "camera: yes",
      "screenRecording: no",
    ])
      assert.ok(text.includes(fact), `${fact} in\n${text}`);
    assert.ok(text.includes('Ada\\u{202e} <img src=x onerror="document.title=1">'), text);
    assert.equal(await page.locator("main img").count(), 0);
    node.end();
    await machines.getByText("offline", { exact: true }).waitFor();
    await machines.getByText(/^openclaw node run /).waitFor();
    noFaults();
  });

  describe("Exec node binding", () => {
    const token = "test-token-0123456789abcdef";
    const folder = "folder-of-ada";

    /** A config as people write it: comments, variables, secrets inside `agents.list`. */
    const written = async (): Promise<{ home: string; file: string; text: string }> => {
      const home = tempHome();
      const state = join(home, ".openclaw");
      mkdirSync(state, { mode: 0o700 });
      const text = `{
  // mine
  gateway: { mode: "local", port: ${await freePort()}, auth: { mode: "token", token: "${token}" } },
  tools: { exec: { host: "node" } },
  agents: {
    list: [
      { id: "main", default: true, memorySearch: { remote: { apiKey: "sk-inside-the-list" } } }, // the first
      {
        id: "ada",
        workspace: "\${ADA_FOLDER}",
        sandbox: { docker: { env: { ADA_API_KEY: "\${ADA_SECRET}", BOT_TOKEN: 'plain-token-of-ada' } } },
      },
    ],
  },
}
`;
      const file = join(state, "openclaw.json");
      writeFileSync(file, text, { mode: 0o600 });
      return { home, file, text };
    };
    const startWritten = (home: string): Promise<TestGateway> =>
      start({ home, env: { ADA_FOLDER: join(home, folder), ADA_SECRET: "secret-of-ada" } });
    const runsCommands = (asked: Asked): NodeReply =>
      asked.command === "system.run"
        ? ranFine(`ran on ${asked.nodeId}`)
        : { error: { code: "UNAVAILABLE", message: "no" } };
    const read = (file: string): string => readFileSync(file, "utf8");
    const chosen = (select: Locator): Promise<string> =>
      select.evaluate(
        (element) => (element as { selectedOptions: { label: string }[] }).selectedOptions[0]?.label ?? "",
      );

    test("binds all agents or one agent to a node and leaves the rest of the config unchanged", async () => {
      const { home, file, text } = await written();
      const gateway = await startWritten(home);
      const [one, two] = [newIdentity(), newIdentity()];
      const come = async (): Promise<void> => {
        const [builder, spare] = [
          await comes(gateway, { identity: one, name: "builder", commands: runs }),
          await comes(gateway, { identity: two, name: "spare", commands: runs }),
        ];
        for (const node of [builder, spare]) node.script(runsCommands);
      };
      await come();
      await comes(gateway, { name: "camera", commands: ["camera.snap"] });
      const page = await open(gateway);
      const binding = card(page, "Exec node binding");
      const [all, main, ada] = ["All agents", "Agent main", "Agent ada"].map((label) => binding.getByLabel(label));
      assert.ok(all !== undefined && main !== undefined && ada !== undefined);
      await all.locator("option", { hasText: "spare" }).waitFor({ state: "attached" });
      const names = [one, two].map(({ id }, index) => `${["builder", "spare"][index]} (${id.slice(0, 12)})`);
      assert.deepEqual((await all.locator("option").allInnerTexts()).toSorted(), ["Any node", ...names].toSorted());
      assert.deepEqual(await Promise.all([all, main, ada].map(chosen)), [
        "Any node",
        "Inherit global",
        "Inherit global",
      ]);
      await page.screenshot({ path: join(shots, "nodes-desktop.png"), fullPage: true });

      const save = binding.getByRole("button", { name: "Save binding" });
      assert.equal(await save.isEnabled(), false);
      await all.selectOption(one.id);
      await ada.selectOption(two.id);
      await binding.getByText("2 changes not saved yet.").waitFor();
      await save.click();
      await until(
        () => read(file),
        (now) => now !== text,
      );
      const bound = text
        .replace('host: "node" }', `host: "node", node: "${one.id}" }`)
        .replace(
          "'plain-token-of-ada' } } },\n",
          `'plain-token-of-ada' } } },\n        tools: {\n          exec: {\n            node: "${two.id}",\n          },\n        },\n`,
        );
      assert.equal(read(file), bound);

      await until(
        () => gateway.output().split("listening on").length,
        (times) => times === 3,
        60_000,
      );
      await come();
      await until(
        async () => [await chosen(all), await chosen(ada)],
        ([first, second]) => first === names[0] && second === names[1],
      );
      for (const [sessionKey, { id }] of [
        ["agent:main:main", one],
        ["agent:ada:main", two],
      ] as const) {
        const result = await exec(
          gateway,
          { command: "uname", security: "full", ask: "off" },
          { body: { sessionKey } },
        );
        assert.ok(result.text.includes(`ran on ${id}`), result.text);
      }

      // The page may still be reconnecting after the restart; then it reports that, and the person saves again.
      const unbound = async (): Promise<string> => {
        await all.selectOption({ label: "Any node" });
        await ada.selectOption({ label: "Inherit global" });
        if (await save.isEnabled()) await save.click();
        return read(file);
      };
      await until(unbound, (now) => now === text);
      noFaults();
    });

    test("reports a config that changed in the meantime and keeps choices for other settings", async () => {
      const { home, file, text } = await written();
      const gateway = await startWritten(home);
      const { id } = await comes(gateway, { name: "builder", commands: runs });
      const page = await open(gateway);
      const binding = card(page, "Exec node binding");
      const [all, ada] = [binding.getByLabel("All agents"), binding.getByLabel("Agent ada")];
      const save = binding.getByRole("button", { name: "Save binding" });
      await all.locator("option", { hasText: "builder" }).waitFor({ state: "attached" });
      await all.selectOption(id);
      await ada.selectOption(id);
      const theirs = text.replace('host: "node"', 'host: "node", node: "mac-mini"');
      writeFileSync(file, theirs);
      await save.click();
      await binding.getByText("Not saved: the config changed since it was loaded.").waitFor();
      await page.screenshot({ path: join(shots, "nodes-stale.png"), fullPage: true });
      assert.equal(read(file), theirs);
      await binding.getByText("1 change not saved yet.").waitFor();
      assert.deepEqual(await Promise.all([all, ada].map(chosen)), [
        "mac-mini (as written in the config)",
        `builder (${id.slice(0, 12)})`,
      ]);
      await save.click();
      await binding.getByText("Saved. The gateway is restarting").waitFor();
      const now = read(file);
      assert.ok(now.startsWith(theirs.slice(0, theirs.indexOf("plain-token-of-ada"))), now);
      assert.ok(now.includes(`node: "${id}"`) && !now.includes("REDACTED"), now);
      noFaults();
    });

    test("does not overwrite an included agents.list", async () => {
      const { home, file, text } = await written();
      writeFileSync(join(home, ".openclaw", "agents.json5"), '{ list: [{ id: "main" }, { id: "ada" }] }', {
        mode: 0o600,
      });
      const linked = `${text.slice(0, text.indexOf("  agents: {"))}  agents: { $include: "./agents.json5" },\n}\n`;
      writeFileSync(file, linked);
      const gateway = await startWritten(home);
      const { id } = await comes(gateway, { name: "builder", commands: runs });
      const page = await open(gateway);
      const binding = card(page, "Exec node binding");
      const ada = binding.getByLabel("Agent ada");
      await ada.locator("option", { hasText: "builder" }).waitFor({ state: "attached" });
      await ada.selectOption(id);
      await binding.getByRole("button", { name: "Save binding" }).click();
      await binding.getByText("agents.list is in an included file").waitFor();
      assert.equal(read(file), linked);
    });
  });

  describe("Exec approvals", () => {
    const fileOf = (gateway: TestGateway): Record<string, unknown> => {
      const { socket: _token, ...file } = JSON.parse(
        readFileSync(join(gateway.state, "exec-approvals.json"), "utf8"),
      ) as Record<string, unknown>;
      return file;
    };
    const used = {
      lastUsedAt: Date.now() - 3 * 3_600_000,
      lastUsedCommand: "rg needle",
      lastResolvedPath: "/usr/bin/rg",
    };
    const rg = { id: "entry-1", pattern: "/usr/bin/r?", ...used };

    test("edits rules and allowlist of the gateway", async () => {
      const gateway = await start({ config: { agents: { list: [{ id: "main" }, { id: "ada" }] } } });
      writeApprovals(gateway.state, {
        version: 1,
        agents: { main: { ask: "always", allowlist: [rg, { id: "entry-2", pattern: "/bin/cat" }] } },
      });
      const page = await open(gateway);
      const rules = card(page, "Exec approvals");
      const scope = rules.getByLabel("Scope");
      await scope.locator("option", { hasText: "Agent ada" }).waitFor({ state: "attached" });
      assert.deepEqual(await scope.locator("option").allInnerTexts(), [
        "Defaults",
        "All agents (*)",
        "Agent main",
        "Agent ada",
      ]);
      await rules.getByLabel("Security").selectOption("deny");
      await rules.getByLabel("Auto-allow skill CLIs").selectOption("yes");
      await scope.selectOption("main");
      const labels = await rules.getByLabel("Security").locator("option").allInnerTexts();
      assert.deepEqual(
        labels.map((label) => label.trim()),
        ["Not set: deny (from the defaults)", "deny", "allowlist", "full"],
      );
      assert.equal(await rules.getByLabel("Ask", { exact: true }).inputValue(), "always");
      await rules.getByLabel("Ask", { exact: true }).selectOption({ index: 0 });
      await rules.getByLabel("Ask fallback").selectOption("allowlist");
      await rules.getByText("used 3 h ago for rg needle, resolved to /usr/bin/rg").waitFor();
      await rules.getByText("never used").waitFor();
      await rules.getByRole("button", { name: "Remove /bin/cat" }).click();
      const program = rules.getByLabel("Program");
      await program.fill("jq");
      await program.press("Enter");
      await rules.getByText("a bare name never matches").waitFor();
      await program.fill("/usr/bin/jq");
      await program.press("Enter");
      await rules.getByText("/usr/bin/jq", { exact: true }).waitFor();
      await rules.getByText("6 changes not saved yet.").waitFor();
      await page.screenshot({ path: join(shots, "nodes-rules.png"), fullPage: true });
      await rules.getByRole("button", { name: "Save approvals" }).click();
      await rules.getByText("Saved.", { exact: true }).waitFor();
      const { agents, ...rest } = fileOf(gateway) as { agents: { main: { allowlist: { id?: string }[] } } };
      const { id: newId, ...added } = agents.main.allowlist[1] ?? {};
      assert.equal(typeof newId, "string");
      assert.deepEqual(
        [rest, { ...agents.main, allowlist: [agents.main.allowlist[0], added] }],
        [
          { version: 1, defaults: { security: "deny", autoAllowSkills: true } },
          { askFallback: "allowlist", allowlist: [rg, { pattern: "/usr/bin/jq" }] },
        ],
      );
      noFaults();
    });

    test("after a conflict a reload keeps the edits, and both changes are saved", async () => {
      const gateway = await start();
      writeApprovals(gateway.state, { version: 1, agents: { main: { allowlist: [rg] } } });
      const page = await open(gateway);
      const rules = card(page, "Exec approvals");
      await rules.getByLabel("Scope").selectOption("main");
      await rules.getByLabel("Security").selectOption("full");
      await rules.getByRole("button", { name: "Remove /usr/bin/r?" }).click();
      const theirs = {
        version: 1,
        agents: {
          main: {
            ask: "off",
            allowlist: [
              { ...rg, lastUsedAt: Date.now() },
              { id: "entry-9", pattern: "/bin/ls" },
            ],
          },
        },
      };
      writeApprovals(gateway.state, theirs);
      const save = rules.getByRole("button", { name: "Save approvals" });
      await save.click();
      await rules.getByText("Not saved: the file changed since it was loaded.").waitFor();
      await page.screenshot({ path: join(shots, "nodes-rules-stale.png"), fullPage: true });
      assert.deepEqual(fileOf(gateway), theirs);
      await rules.getByRole("button", { name: "Reload, keep my changes" }).click();
      await rules.getByText("/bin/ls", { exact: true }).waitFor();
      await rules.getByText("2 changes not saved yet.").waitFor();
      await save.click();
      await rules.getByText("Saved.", { exact: true }).waitFor();
      assert.deepEqual(fileOf(gateway), {
        version: 1,
        defaults: {},
        agents: { main: { ask: "off", allowlist: [{ id: "entry-9", pattern: "/bin/ls" }], security: "full" } },
      });
      noFaults();
    });

    test("edits the file of a node, and explains what to do for a node that is offline or cannot be edited", async () => {
      const gateway = await start();
      let file: unknown = { version: 1, defaults: { security: "<b>odd</b>" }, agents: {} };
      const hash = (): string => createHash("sha256").update(JSON.stringify(file)).digest("hex");
      const snapshot = (): object => ({
        path: "/home/ada/.openclaw/exec-approvals.json",
        exists: true,
        hash: hash(),
        file,
      });
      const node = await comes(gateway, { name: "builder", commands: editable });
      node.script(({ command, params }) => {
        if (command !== "system.execApprovals.set") return { payload: snapshot() };
        if (params?.["baseHash"] !== hash())
          return {
            error: { code: "INVALID_REQUEST", message: "exec approvals changed since last load; re-run and retry" },
          };
        file = params["file"];
        return { payload: snapshot() };
      });
      const plain = await comes(gateway, { name: "plain", commands: runs });
      const page = await open(gateway);
      const rules = card(page, "Exec approvals");
      const target = rules.getByLabel("Target");
      await target.locator("option", { hasText: "plain" }).waitFor({ state: "attached" });
      await target.selectOption(node.id);
      await rules.getByText("/home/ada/.openclaw/exec-approvals.json").waitFor();
      const security = rules.getByLabel("Security");
      assert.equal(await security.inputValue(), "<b>odd</b>");
      await security
        .locator("option", { hasText: "<b>odd</b> (unknown, treated as the strictest)" })
        .waitFor({ state: "attached" });
      await security.selectOption("allowlist");
      file = { version: 1, defaults: { security: "deny", ask: "always" }, agents: {} };
      await rules.getByRole("button", { name: "Save approvals" }).click();
      await rules.getByRole("button", { name: "Reload, keep my changes" }).click();
      await until(
        () => rules.getByLabel("Ask", { exact: true }).inputValue(),
        (value) => value === "always",
      );
      await rules.getByRole("button", { name: "Save approvals" }).click();
      await rules.getByText("Saved.", { exact: true }).waitFor();
      assert.deepEqual(file, { version: 1, defaults: { ask: "always", security: "allowlist" }, agents: {} });
      assert.equal(existsSync(join(gateway.state, "exec-approvals.json")), false, "the gateway's own file is another");

      await target.selectOption(plain.id);
      await rules.getByText("Edit this file on that machine").waitFor();
      assert.equal(await rules.getByRole("button", { name: "Save approvals" }).count(), 0);
      await page.screenshot({ path: join(shots, "nodes-by-hand.png"), fullPage: true });
      plain.end();
      await rules.getByText("This node is offline").waitFor();
      await rules.getByText(/^openclaw node run --host 127\.0\.0\.1/).waitFor();
      noFaults();
    });
  });

  test("works by keyboard, on a phone and in dark mode", async () => {
    const gateway = await start({
      config: { agents: { list: [{ id: "main" }, { id: "an-agent-with-a-rather-long-name-of-its-own" }] } },
    });
    writeApprovals(gateway.state, {
      version: 1,
      agents: {
        main: {
          allowlist: [
            { id: "e", pattern: `/opt/${"very-long-folder-name/".repeat(8)}tool`, cwd: "/srv/work", args: ["--all"] },
          ],
        },
      },
    });
    const many = Array.from({ length: 24 }, (_, index) => `vendor.command-${index}`);
    const node = await comes(gateway, {
      name: "a machine with a rather long name in the cellar",
      connect: {
        extra: {
          caps: ["canvas", "camera", "system"],
          commands: [...editable, ...many],
          permissions: { camera: true, accessibility: false },
        },
      },
    });
    for (const [name, options] of [
      ["phone", { viewport: phone, hasTouch: true, isMobile: true }],
      ["phone-dark", { viewport: phone, colorScheme: "dark" }],
      ["desktop-dark", { viewport: desktop, colorScheme: "dark" }],
    ] as const) {
      const page = await open(gateway, options);
      const rules = card(page, "Exec approvals");
      await rules.getByLabel("Scope").selectOption("main");
      await rules.getByText("--all").waitFor();
      await card(page, "Paired nodes").getByText("28 commands").waitFor();
      await page.screenshot({ path: join(shots, `nodes-${name}.png`), fullPage: true });
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), options.viewport.width);
    }
    const page = await open(gateway);
    const binding = card(page, "Exec node binding");
    const all = binding.getByLabel("All agents");
    await all.locator("option", { hasText: "cellar" }).waitFor({ state: "attached" });
    await all.focus();
    await page.keyboard.press("ArrowDown");
    assert.equal(await all.inputValue(), node.id);
    const names: string[] = [];
    for (let step = 0; step < 5; step += 1) {
      await page.keyboard.press("Tab");
      names.push(
        await page.evaluate(
          "document.activeElement.labels?.[0]?.textContent.trim() || document.activeElement.textContent.trim()",
        ),
      );
    }
    assert.deepEqual(names, [
      "Agent main",
      "Agent an-agent-with-a-rather-long-name-of-its-own",
      "Save binding",
      "Target",
      "Scope",
    ]);
    const unnamed = await page.evaluate(
      "[...document.querySelectorAll('main select, main input')].filter((field) => field.labels.length === 0).length",
    );
    assert.equal(unnamed, 0);
  });
});
