// Cookies, storage, settings, traces and downloads answer the owner only.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { RouteCall } from "../route.ts";
import { cookieRoutes } from "./cookies.ts";
import { networkRoutes } from "./network.ts";
import { settingRoutes } from "./settings.ts";
import { traceRoutes } from "./trace.ts";

test("refuses the requests of the owner to agents, before a tab is looked for", async () => {
  const call = { caller: { who: "agent" } } as RouteCall;
  const routes = [...cookieRoutes, ...networkRoutes, ...settingRoutes, ...traceRoutes];
  assert.ok(routes.length >= 20, `${routes.length} routes`);
  for (const route of routes)
    await assert.rejects(route.run({}, call), {
      code: "browser.blocked",
      message: `only the owner may use ${route.path}`,
    });
});
