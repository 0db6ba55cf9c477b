// Profiles through the tool: created with a port and a color, kept in the config, deleted to the trash, bounded in number.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { browsersIn, noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { configFile } from "../../harness/restart.ts";

describe("browser profiles", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  const profilesInConfig = (): Record<string, { cdpPort?: number; color?: string }> =>
    JSON.parse(readFileSync(configFile(ground.gateway), "utf8")).browser.profiles;

  before(async () => {
    ground = await startBrowserGround();
  });
  after(() => ground.close());

  test("creates a profile with a port of its own and keeps it in the config", async () => {
    const made = await ground.browser({ action: "create-profile", name: "work", color: "#0066cc" });
    assert.ok(made.ok, JSON.stringify(made));
    const port = ground.gateway.port + 11;
    assert.deepEqual(
      [made.details["profile"], made.details["cdpPort"], made.details["isRemote"]],
      ["work", port, false],
    );
    assert.deepEqual(profilesInConfig()["work"], { cdpPort: port, color: "#0066CC" });
  });

  test("runs two profiles side by side with separate data", async () => {
    ground.web.page("/", "<h1>Hi</h1>");
    for (const profile of ["openclaw", "work"]) {
      const opened = await ground.browser({ action: "open", profile, targetUrl: ground.at("/") });
      assert.ok(opened.ok, JSON.stringify(opened));
    }
    assert.equal(browsersIn(ground.gateway.state).length, 2);
    const { profiles } = (await ground.browser({ action: "profiles" })).details as {
      profiles: { name: string; running: boolean; isDefault: boolean }[];
    };
    const shown = profiles.map(({ name, running, isDefault }) => [name, running, isDefault]);
    assert.deepEqual(shown, [
      ["openclaw", true, true],
      ["chrome", false, false],
      ["work", true, false],
    ]);
  });

  test("rejects bad names, names that exist and bad colors", async () => {
    const codes = [];
    for (const args of [
      { name: "Work" },
      { name: "../x" },
      { name: "a".repeat(65) },
      { name: "work" },
      { name: "ok", color: "red" },
    ])
      codes.push((await ground.browser({ action: "create-profile", ...args })).error?.code);
    assert.deepEqual(codes, [
      "browser.bad-profile-name",
      "browser.bad-profile-name",
      "browser.bad-profile-name",
      "browser.profile-exists",
      "browser.bad-request",
    ]);
  });

  test("does not let an agent attach to a browser of this machine by a profile", async () => {
    for (const cdpUrl of ["http://127.0.0.1:9222", "ws://localhost:9222/devtools/browser/x", "http://10.0.0.1:9222"]) {
      const refused = await ground.browser({ action: "create-profile", name: "steal", cdpUrl });
      assert.equal(refused.error?.code, "browser.blocked", cdpUrl);
    }
    assert.equal(profilesInConfig()["steal"], undefined);
  });

  test("deletes a profile: stops its browser and moves its data to the trash", async () => {
    const folder = join(ground.gateway.state, "browser", "work");
    assert.ok(existsSync(folder));
    const deleted = await ground.browser({ action: "delete-profile", name: "work" });
    assert.ok(deleted.ok, JSON.stringify(deleted));
    assert.equal(existsSync(folder), false);
    assert.ok(existsSync(join(String(deleted.details["trash"]), "user-data")));
    assert.equal(browsersIn(ground.gateway.state).length, 1);
    assert.equal(profilesInConfig()["work"], undefined);
    assert.equal((await ground.browser({ action: "open", profile: "work", targetUrl: ground.at("/") })).ok, false);
  });

  test("keeps the built-in profiles", async () => {
    for (const name of ["openclaw", "chrome"])
      assert.equal((await ground.browser({ action: "delete-profile", name })).error?.code, "browser.built-in-profile");
  });
});

test("gives each profile one of 100 ports and says how to free one", { skip: noBrowser }, async () => {
  const first = 31_000;
  const profiles = Object.fromEntries(
    Array.from({ length: 99 }, (_, index) => [`p${index}`, { cdpPort: first + index + 1, color: "#0066CC" }]),
  );
  const full = await startBrowserGround({
    browser: { profiles: { openclaw: { cdpPort: first, color: "#FF4500" }, ...profiles } },
    config: {
      gateway: { mode: "local", port: first - 11, auth: { mode: "token", token: "test-token-0123456789abcdef" } },
    },
  });
  try {
    const refused = await full.browser({ action: "create-profile", name: "one-more" });
    assert.equal(refused.error?.code, "browser.no-port", JSON.stringify(refused));
    assert.match(refused.error?.hint ?? "", /delete-profile/);
  } finally {
    await full.close();
  }
});
