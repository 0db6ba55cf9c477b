// The route that acts on a page: one step or a list of steps, and what changed by it.
import { OpenClawError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import { performStep } from "../act/perform.ts";
import { readActRequest, type ActRequest } from "../act/request.ts";
import { browserError } from "../errors.ts";
import { route, type RouteCall } from "../route.ts";
import { describeChanges } from "../snapshot/changes.ts";
import type { Tab } from "../tab.ts";
import { settle } from "../settle.ts";
import { hookRoutes } from "./hooks.ts";

export const actRoutes = [
  route("POST", "/act", Type.Object({}, { additionalProperties: true }), async (params, call) => {
    const request = readActRequest(params as Record<string, unknown>);
    requireEvaluate(request, call);
    const tab = await call.tab(request.targetId);
    return tab.run(call.signal, () => act(tab, request, call));
  }),
  ...hookRoutes,
];

async function act(tab: Tab, request: ActRequest, call: RouteCall) {
  const { steps, isList, observe } = request;
  const url = tab.page.url();
  const results: unknown[] = [];
  let failure: Error | undefined;
  for (const [index, step] of steps.entries()) {
    try {
      // The last step may have led to a page that is closed to this caller.
      if (index > 0) await call.check(tab);
      results.push(await performStep(tab, step, call));
    } catch (error) {
      failure = isList ? stepFailure(error, index, steps.length) : (error as Error);
      break;
    }
  }
  if (failure !== undefined && (results.length === 0 || observe === "none")) throw failure;
  const answer = {
    ok: failure === undefined,
    targetId: tab.targetId,
    ...(failure === undefined ? {} : { error: failure.message }),
    ...(isList ? { steps: results.length } : {}),
    ...(results.some((result) => result !== undefined) ? { result: isList ? results : results[0] } : {}),
  };
  if (tab.page.isClosed()) return { ...answer, closed: true };
  const observed = observe === "changes" ? await observeChanges(tab, url, call) : {};
  return { ...answer, url: tab.page.url(), ...observed };
}

/** Also used after a navigation: what is new since the model last saw the page. */
export async function observeChanges(tab: Tab, urlBefore: string, { signal, timeoutMs }: RouteCall) {
  await settle(tab, signal);
  const now = await tab.look({ timeoutMs, signal });
  const changes = describeChanges(tab.seen ?? [], now);
  tab.seen = now;
  const notes = tab.events.takeNotes();
  const url = tab.page.url();
  if (url !== urlBefore) notes.unshift(`the page is now ${url.slice(0, 500)}`);
  return { changes: changes === "" ? "no visible change" : changes, ...(notes.length === 0 ? {} : { notes }) };
}

function stepFailure(error: unknown, index: number, count: number): Error {
  const message = error instanceof Error ? error.message : String(error);
  const done = index === 0 ? "no step was performed" : `steps 1 to ${index} were performed`;
  const code = error instanceof OpenClawError ? error.code : "browser.failed";
  const text = `step ${index + 1} of ${count} failed: ${message} (${done}; the rest was not)`;
  return browserError(code as Parameters<typeof browserError>[0], text, { cause: error });
}

function requireEvaluate({ steps }: ActRequest, { browsers }: RouteCall): void {
  if (browsers.deps.config().browser?.evaluateEnabled !== false) return;
  const runs = steps.some((step) => step.kind === "evaluate" || (step.kind === "wait" && step.fn !== undefined));
  if (!runs) return;
  throw browserError("browser.evaluate-disabled", "scripts in pages are disabled (browser.evaluateEnabled is false)", {
    hint: "openclaw config set browser.evaluateEnabled true",
  });
}
