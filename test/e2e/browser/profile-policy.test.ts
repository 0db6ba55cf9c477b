// The limit of an agent to some browser profiles (`agents.list[].tools.browser.profiles`), through /tools/invoke.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { freePort, operator } from "../../harness/gateway.ts";
import { scriptedNode } from "../../harness/node.ts";

describe("browser profiles of an agent", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  before(async () => {
    const [own, bank] = [await freePort(), await freePort()];
    ground = await startBrowserGround({
      // Ids are compared as everywhere else, whatever their case.
      config: { agents: { list: [{ id: "Main", tools: { browser: { profiles: ["work"] } } }] } },
      browser: {
        defaultProfile: "bank",
        profiles: { work: { cdpPort: own, color: "#112233" }, bank: { cdpPort: bank, color: "#332211" } },
      },
    });
  });
  after(() => ground.close());

  test("refuses a profile that is not listed and names it", async () => {
    for (const args of [
      { action: "status", profile: "bank" },
      { action: "start", profile: "chrome" },
      { action: "tabs" },
      { action: "create-profile", options: { name: "bank2" } },
      { action: "delete-profile", options: { name: "bank" } },
      { action: "reset-profile", profile: "bank" },
      { action: "act", request: { kind: "press", key: "a" } },
    ]) {
      const { error } = await ground.browser(args);
      assert.equal(error?.code, "browser.profile-denied", JSON.stringify(error));
      assert.match(error?.message ?? "", /profile "(?:bank2?|chrome)" \(allowed: work\)/);
    }
    const inStep = { action: "act", profile: "work", request: { kind: "press", key: "a", profile: "bank" } };
    assert.equal((await ground.browser(inStep)).error?.code, "browser.bad-request");
    const { error } = await ground.browser({ action: "snapshot", profile: "bank" });
    assert.match(error?.hint ?? "", /agents\.list\[\]\.tools\.browser\.profiles/);
  });

  test("allows the listed profile", async () => {
    const { ok, details } = await ground.browser({ action: "status", profile: "work" });
    assert.ok(ok && details["profile"] === "work", JSON.stringify(details));
  });

  test("lists only the allowed profiles", async () => {
    const { details } = await ground.browser({ action: "profiles" });
    assert.deepEqual(
      (details["profiles"] as { name: string }[]).map(({ name }) => name),
      ["work"],
    );
  });

  test("applies to the browser of a node as well, where a call must name a profile", async () => {
    const node = await scriptedNode(ground.gateway, { name: "mini", commands: ["browser.proxy"] });
    node.script(({ params }) => ({ payload: { result: { profile: params?.["profile"] } } }));
    const reach = (args: object) => ground.browser({ action: "status", node: "mini", ...args });
    assert.match((await reach({})).error?.message ?? "", /names none \(allowed: work\)/);
    assert.match((await reach({ profile: "bank" })).error?.message ?? "", /profile "bank"/);
    const inBody = { action: "act", profile: "work", request: { kind: "press", key: "a", profile: "bank" } };
    assert.match((await reach(inBody)).error?.message ?? "", /two profiles: "work" and "bank"/);
    assert.equal(node.asked.length, 0, "no refused call reaches the node");
    assert.equal((await reach({ profile: "work" })).details["profile"], "work");
    node.end();
  });

  test("does not limit the owner", async () => {
    const wire = await operator(ground.gateway);
    const params = { method: "GET", path: "/", query: { profile: "bank" } };
    const { payload } = await wire.request("browser.request", params);
    assert.equal((payload as { profile?: string }).profile, "bank");
    wire.end();
  });
});
