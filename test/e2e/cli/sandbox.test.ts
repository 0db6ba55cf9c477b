// `openclaw sandbox …` as a person types it: what is built, why, and taking it down.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import { dispose, invoke, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

describe("sandbox explain", () => {
  const config = {
    session: { mainKey: "home" },
    agents: {
      defaults: { sandbox: { mode: "non-main", workspaceAccess: "ro" } },
      list: [
        { id: "main", default: true },
        { id: "work", sandbox: { mode: "off" }, tools: { sandbox: { tools: { deny: ["exec"] } } } },
      ],
    },
  };
  let cli: Cli;
  before(() => {
    cli = newCli(JSON.stringify(config));
  });
  after(() => cli.dispose());
  const explain = async (...words: string[]): Promise<Explained> =>
    JSON.parse(wellEnded(await cli.run("sandbox", "explain", ...words, "--json"))) as Explained;

  interface Explained {
    readonly agentId: string;
    readonly sessionKey: string;
    readonly mainSessionKey: string;
    readonly sandbox: {
      readonly mode: string;
      readonly scope: string;
      readonly workspaceAccess: string;
      readonly sessionIsSandboxed: boolean;
      readonly tools: { readonly deny: string[]; readonly sources: unknown };
    };
    readonly elevated: { readonly enabled: boolean; readonly channel: string; readonly allowedByConfig: boolean };
    readonly fixIt: string[];
  }

  test("under non-main the main session is not sandboxed, by either of its names; others are", async () => {
    const main = await explain();
    assert.deepEqual(
      {
        session: main.sessionKey,
        main: main.mainSessionKey,
        is: main.sandbox.sessionIsSandboxed,
        mode: main.sandbox.mode,
        scope: main.sandbox.scope,
      },
      { session: "agent:main:home", main: "agent:main:home", is: false, mode: "non-main", scope: "agent" },
    );
    assert.equal((await explain("--session", "agent:main:main")).sandbox.sessionIsSandboxed, false);
    const group = await explain("--session", "agent:main:telegram:group:-1");
    assert.equal(group.sandbox.sessionIsSandboxed, true);
    assert.deepEqual(group.elevated, { ...group.elevated, enabled: true, channel: "telegram", allowedByConfig: false });
    assert.ok(group.fixIt.includes("agents.defaults.sandbox.mode"));
  });

  test("names an agent's own settings and lists by their keys", async () => {
    const { sandbox, fixIt } = await explain("--agent", "work", "--session", "telegram:group:-1");
    assert.equal(sandbox.sessionIsSandboxed, false);
    assert.deepEqual(sandbox.tools.deny, ["exec"]);
    assert.deepEqual(sandbox.tools.sources, {
      allow: { source: "default", key: "agents.list[1].tools.sandbox.tools.allow" },
      deny: { source: "agent", key: "agents.list[1].tools.sandbox.tools.deny" },
    });
    assert.equal(fixIt[0], "agents.list[1].sandbox.mode");
  });

  test("says plainly when commands run without a sandbox", async () => {
    assert.match(wellEnded(await cli.run("sandbox", "explain")), /Sandboxed\s+no: its commands run on this machine/);
  });
});

describe("sandbox list and recreate", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  let cli: Cli;
  before(async () => {
    gateway = await startGateway({
      config: { agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw", backend: "bubblewrap" } } } },
    });
    cli = newCli(undefined, gateway.home);
  });
  after(() => dispose(gateway));
  const run = async (command: string): Promise<string> => {
    const { body } = await invoke(gateway, "exec", { command });
    return JSON.stringify(body);
  };

  test("lists nothing before the first command", async () => {
    assert.match(wellEnded(await cli.run("sandbox", "list")), /No sandboxes yet/);
  });

  test("a sandbox is listed, removed beside a running gateway, and rebuilt by the next command", async () => {
    await run("echo kept > ~/note");
    assert.match(await run("cat ~/note"), /kept/);
    const { sandboxes } = JSON.parse(wellEnded(await cli.run("sandbox", "list", "--json"))) as {
      sandboxes: Record<string, unknown>[];
    };
    assert.equal(sandboxes.length, 1);
    assert.deepEqual(
      { ...sandboxes[0], ageMs: 0, idleMs: 0, name: "", workspace: "" },
      {
        name: "",
        backend: "bubblewrap",
        image: null,
        browser: false,
        running: false,
        matchesConfig: true,
        ageMs: 0,
        idleMs: 0,
        scope: "agent:main",
        agentId: "main",
        sessionKey: "agent:main:main",
        workspace: "",
      },
    );
    assert.match(wellEnded(await cli.run("sandbox", "list")), /bubblewrap\s+ready\s+current/);
    assert.match(
      wellEnded(await cli.run("sandbox", "recreate", "--agent", "main", "--force")),
      /removed openclaw-sbx-agent-main/,
    );
    assert.doesNotMatch(await run("cat ~/note; echo again > ~/note"), /kept/);
    assert.match(await run("cat ~/note"), /again/);
  });

  test("removes nothing without --force and without a terminal", async () => {
    const { code, stderr } = await cli.run("sandbox", "recreate", "--all");
    assert.equal(code, 2);
    assert.match(stderr, /--force/);
    assert.equal((await cli.run("sandbox", "recreate", "--force")).code, 2);
  });
});
