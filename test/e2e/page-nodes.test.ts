// The Nodes tab as a person uses it: a real gateway, a real browser, scripted nodes that come, ask, answer and go.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";

import type { Browser, Locator, Page } from "playwright-core";

import { exec, until, writeApprovals } from "../exec-kit.ts";
import { dispose, freePort, newIdentity, startGateway, tempHome, Wire, type TestGateway } from "../kit.ts";
import { ranFine, scriptedNode, type Asked, type NodeReply, type ScriptedNode } from "../node-kit.ts";
import { desk, ensurePage, launchBrowser, noBrowser, openLinked, phone, type Look, type Opened } from "../page-kit.ts";

const runs = ["system.run", "system.which"];
const editable = [...runs, "system.execApprovals.get", "system.execApprovals.set"];

describe("the Nodes tab", { skip: noBrowser }, () => {
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
  const join_ = async (gateway: TestGateway, plan: Parameters<typeof scriptedNode>[1]): Promise<ScriptedNode> => {
    const node = await scriptedNode(gateway, plan);
    nodes.push(node);
    return node;
  };
  const open = async (gateway: TestGateway, look?: Look): Promise<Page> => {
    const mine = await openLinked(browser, gateway, look);
    opened.push(mine);
    await mine.page.goto(`${gateway.url}/#/nodes`);
    await mine.page.getByRole("heading", { name: "Nodes", level: 1 }).waitFor();
    return mine.page;
  };
  const card = (page: Page, name: string): Locator => page.getByRole("region", { name });
  const noFaults = (): void => assert.deepEqual(opened[0]?.faults, []);

  test("tells how to bring a first node; one that asks is let in or sent away, and shows what it can do", async () => {
    const gateway = await start();
    const page = await open(gateway);
    const machines = card(page, "Machines");
    await machines.getByText(`openclaw node run --host 127.0.0.1 --port ${gateway.port}`, { exact: true }).waitFor();
    await page.screenshot({ path: join(shots, "nodes-empty.png"), fullPage: true });

    const remote = { headers: { "x-forwarded-for": "203.0.113.9" } };
    const name = 'Ada\u202e <img src=x onerror="document.title=1">';
    const client = { id: "node-host", displayName: name, version: "2026.2.9", platform: "linux", mode: "node" };
    const [wanted, stranger] = [newIdentity(), newIdentity()];
    for (const identity of [wanted, stranger]) {
      const knock = new Wire(gateway.port, remote);
      const answer = await knock.connect({ token: gateway.token, identity, role: "node", scopes: [], client });
      assert.equal(answer.error?.message, "pairing required");
      knock.end();
    }
    const devices = card(page, "Devices");
    const asking = (id: string): Locator => devices.getByRole("listitem").filter({ hasText: id.slice(0, 12) });
    await asking(stranger.id).getByText("asks to be node").waitFor();
    await asking(stranger.id)
      .getByText('Ada\\u{202e} <img src=x onerror="document.title=1">', { exact: true })
      .waitFor();
    await page.screenshot({ path: join(shots, "nodes-asking.png"), fullPage: true });
    await asking(stranger.id).getByRole("button", { name: "Reject" }).click();
    await asking(stranger.id).waitFor({ state: "detached" });
    await asking(wanted.id).getByRole("button", { name: "Approve" }).click();
    await asking(wanted.id).getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
    await machines.getByText("offline", { exact: true }).waitFor();

    const node = await join_(gateway, {
      identity: wanted,
      socket: remote,
      connect: {
        client,
        extra: {
          caps: ["camera", "system"],
          commands: ["camera.snap", "system.run"],
          permissions: { camera: true, screenRecording: false },
        },
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

    /** As people write it: comments, variables, secrets inside `agents.list`. */
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
        ? ranFine(asked.nodeId.slice(0, 12))
        : { error: { code: "UNAVAILABLE", message: "no" } };
    const read = (file: string): string => readFileSync(file, "utf8");
    const chosen = (select: Locator): Promise<string> =>
      select.evaluate(
        (element) => (element as unknown as { selectedOptions: { label: string }[] }).selectedOptions[0]?.label ?? "",
      );

    test("binds all agents and one of them, leaves everything else in the file as it was, and commands go there", async () => {
      const { home, file, text } = await written();
      const gateway = await startWritten(home);
      const [one, two] = [newIdentity(), newIdentity()];
      const come = async (): Promise<void> => {
        const [builder, spare] = [
          await join_(gateway, { identity: one, name: "builder", commands: runs }),
          await join_(gateway, { identity: two, name: "spare", commands: runs }),
        ];
        for (const node of [builder, spare]) node.script(runsCommands);
      };
      await come();
      await join_(gateway, { name: "camera", commands: ["camera.snap"] });
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
      await page.screenshot({ path: join(shots, "nodes-desk.png"), fullPage: true });

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
      const ran = async (sessionKey: string): Promise<string> =>
        (await exec(gateway, { command: "uname", security: "full", ask: "off" }, { body: { sessionKey } })).text.trim();
      assert.deepEqual(
        [await ran("agent:main:main"), await ran("agent:ada:main")].map((said) => said.slice(0, 12)),
        [one.id.slice(0, 12), two.id.slice(0, 12)],
      );

      await all.selectOption({ label: "Any node" });
      await ada.selectOption({ label: "Inherit global" });
      await save.click();
      assert.equal(
        await until(
          () => read(file),
          (now) => now !== bound,
        ),
        text,
      );
      noFaults();
    });
  });
});
void existsSync;
void createHash;
void desk;
void phone;
void writeApprovals;
void editable;
