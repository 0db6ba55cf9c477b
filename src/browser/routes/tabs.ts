// Routes that list, open, focus, close and navigate tabs.
import { Type } from "../../core/schema.ts";
import { isDownload, loadPage } from "../load-page.ts";
import { route, targetId, type RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";
import { observeChanges } from "./act.ts";

const closed = { additionalProperties: false };
const url = Type.String({ minLength: 1 });
const id = Type.String({ minLength: 1 });
const observe = Type.Optional(Type.Enum(["changes", "none"]));

export const tabRoutes = [
  route("GET", "/tabs", Type.Object({}, closed), async (_params, call) => {
    const connection = await call.running();
    const tabs = connection === undefined ? [] : await connection.tabs();
    const isReadable = async (tab: Tab) => call.caller.who === "owner" || connection?.pages.isReadable(tab);
    return {
      running: connection !== undefined,
      tabs: await Promise.all(
        tabs.map(async (tab) => ((await isReadable(tab)) ? describeTab(tab, call) : blockedTab(tab))),
      ),
    };
  }),
  route("POST", "/tabs/open", Type.Object({ url, observe }, closed), async (params, call) => {
    const tab = await newTab(call);
    try {
      await loadPage(tab, params.url, call);
      await call.check(tab);
    } catch (error) {
      // A tab that shows nothing of the page is of no use. A slow page stays, and a download is followed by its tab.
      if (/^(?:about:blank$|chrome-error:)/.test(tab.page.url()) && !isDownload(error)) await tab.page.close();
      throw error;
    }
    const observed = params.observe === "changes" ? await observeChanges(tab, "about:blank", call) : {};
    return { ...(await describeTab(tab, call)), ...observed };
  }),
  route("POST", "/tabs/focus", Type.Object({ targetId: id }, closed), async (params, call) => {
    const tab = await call.anyTab(params.targetId);
    await tab.cdp.send("Page.bringToFront");
    return { ok: true, targetId: tab.targetId };
  }),
  route("DELETE", "/tabs/:targetId", Type.Object({ targetId: id }, closed), async (params, call) => {
    const tab = await call.anyTab(params.targetId);
    await tab.page.close();
    return { ok: true, targetId: tab.targetId };
  }),
  route("POST", "/navigate", Type.Object({ url, targetId, observe }, closed), async (params, call) => {
    const tab = await call.anyTab(params.targetId);
    return tab.run(call.signal, async () => {
      const before = tab.page.url();
      await loadPage(tab, params.url, call);
      await call.check(tab);
      const observed = params.observe === "changes" ? await observeChanges(tab, before, call) : {};
      return { ok: true, targetId: tab.targetId, url: tab.page.url(), ...observed };
    });
  }),
];

/** A new page needs none of the tabs of a browser that ended, also when that is found only now. */
async function newTab(call: RouteCall): Promise<Tab> {
  const open = async () => {
    const connection = await call.connection();
    call.browsers.takeLoss(call.profile);
    return connection;
  };
  const connection = await open();
  try {
    return await connection.newTab();
  } catch (error) {
    if (connection.isConnected) throw error;
    return (await open()).newTab();
  }
}

/** An agent may close or leave it. */
function blockedTab({ targetId: target }: Tab) {
  return { targetId: target, title: "", url: "blocked", type: "page" };
}

/** Asks the browser and not the page, which may hang. */
export async function describeTab({ targetId: target, cdp }: Tab, { profile, caller }: RouteCall) {
  const { targetInfo } = await cdp.send("Target.getTargetInfo");
  const { title, url: address } = targetInfo;
  const isShown = profile.kind === "managed" && caller.who === "owner";
  const wsUrl = isShown ? { wsUrl: `ws://127.0.0.1:${profile.cdpPort}/devtools/page/${target}` } : {};
  return { targetId: target, title, url: address, ...wsUrl, type: "page" };
}
