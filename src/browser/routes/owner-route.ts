// A route on one tab that only the owner uses: the tool of agents has no action for it.
import { Type, type Static, type TObject, type TProperties } from "../../core/schema.ts";
import { actFailure } from "../act/failure.ts";
import type { ControlAnswer } from "../control.ts";
import { browserError } from "../errors.ts";
import { route, targetId, type Route, type RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";

export type TabWork<P extends TProperties> = (
  tab: Tab,
  params: Static<TObject<P>>,
  call: RouteCall,
) => Promise<ControlAnswer | void>;

/** Calls on the tab wait for this one. */
export function ownerRoute<P extends TProperties>(
  method: Route["method"],
  path: string,
  fields: P,
  work: TabWork<P>,
): Route {
  return waitingRoute(method, path, fields, (tab, params, call) => tab.run(call.signal, () => work(tab, params, call)));
}

/** For a route that waits for an event: other calls go on, because they cause it. */
export function waitingRoute<P extends TProperties>(
  method: Route["method"],
  path: string,
  fields: P,
  work: TabWork<P>,
): Route {
  const schema = Type.Object({ targetId, ...fields }, { additionalProperties: false });
  return route(method, path, schema, async (given, call) => {
    if (call.caller.who !== "owner")
      throw browserError("browser.blocked", `only the owner may use ${path}`, { hint: "openclaw browser --help" });
    const { targetId: id, ...params } = given as { readonly targetId?: string };
    const tab = await call.tab(id);
    try {
      const more = await work(tab, params as Static<TObject<P>>, call);
      return { ok: true, targetId: tab.targetId, ...more };
    } catch (error) {
      throw call.signal.aborted ? error : actFailure(path.slice(1), error, call.timeoutMs);
    }
  });
}
