// Tabs by their position in the list, for the command line of 2026.2.
import { Type } from "../../core/schema.ts";
import { browserError } from "../errors.ts";
import { route, type RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";
import { describeTab } from "./tabs.ts";

const params = Type.Object(
  {
    action: Type.Enum(["list", "new", "select", "close"]),
    /** From 0. */
    index: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);

export const tabActionRoutes = [
  route("POST", "/tabs/action", params, async ({ action, index }, call) => {
    if (action === "new") {
      const tab = await (await call.connection()).newTab();
      return { ok: true, tab: await describeTab(tab, call) };
    }
    const tabs = (await (await call.running())?.tabs()) ?? [];
    if (action === "list") return { ok: true, tabs: await Promise.all(tabs.map((tab) => describeTab(tab, call))) };
    const tab = await tabAt(tabs, index, call, action);
    await (action === "close" ? tab.page.close() : tab.cdp.send("Page.bringToFront"));
    return { ok: true, targetId: tab.targetId };
  }),
];

/** Only close may leave the position out: it closes the tab that was used last. */
async function tabAt(tabs: readonly Tab[], index: number | undefined, call: RouteCall, action: string): Promise<Tab> {
  if (index === undefined && action === "select") throw browserError("browser.bad-request", "index is required");
  const named = index === undefined ? undefined : tabs[index];
  if (index !== undefined && named === undefined)
    throw browserError("browser.tab-not-found", `there is no tab ${index}; ${tabs.length} are open`);
  // Also makes it the tab that later requests use.
  return call.anyTab(named?.targetId);
}
