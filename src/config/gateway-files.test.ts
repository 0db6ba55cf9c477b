// Finds the gateway's own files wherever the schema marks them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gatewayFiles } from "./gateway-files.ts";
import type { Config } from "./schema/index.ts";

const placesOf = (config: unknown) => gatewayFiles(config as Config, "/home/me");

test("finds secrets and logs at the top, in accounts and in lists of agents", () => {
  const { hidden } = placesOf({
    logging: { file: "/var/log/openclaw/gateway.log" },
    gateway: { tls: { keyPath: "~/tls/key.pem", certPath: "/tls/cert.pem" } },
    channels: { telegram: { tokenFile: "~/bot", accounts: { two: { tokenFile: "/srv/bot2" } } } },
    agents: { list: [{ id: "a", agentDir: "/srv/a" }], defaults: { sandbox: { workspaceRoot: "/srv/boxes" } } },
  });
  assert.deepEqual(hidden.toSorted(), [
    "/home/me/bot",
    "/home/me/tls/key.pem",
    "/srv/a",
    "/srv/bot2",
    "/srv/boxes",
    "/var/log/openclaw/gateway.log",
  ]);
});

test("finds what the gateway runs, serves and reads instructions from", () => {
  const { kept } = placesOf({
    gateway: { controlUi: { root: "~/page" } },
    plugins: { load: { paths: ["/srv/plugins", ""] } },
    skills: { load: { extraDirs: ["~/skills"] } },
  });
  assert.deepEqual(kept.toSorted(), ["/home/me/page", "/home/me/skills", "/srv/plugins"]);
});

test("returns the folder for a name with a placeholder", () => {
  const { hidden } = placesOf({ session: { store: "/srv/sessions/{agentId}/sessions.json" } });
  assert.deepEqual(hidden, ["/srv/sessions"]);
});
