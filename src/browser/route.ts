// A route of the control service: method, path and checked parameters.
import { checker, type Checker, type Static, Type, type TObject } from "../core/schema.ts";
import type { BrowserConnection } from "./connection.ts";
import type { Browsers } from "./browsers.ts";
import type { ControlAnswer, ControlCaller, ControlRequest } from "./control.ts";
import { browserError } from "./errors.ts";
import type { Profile } from "./profiles.ts";
import type { Tab } from "./tab.ts";

export interface RouteCall {
  readonly browsers: Browsers;
  readonly caller: ControlCaller;
  readonly profile: Profile;
  /** Aborted at the deadline of the request or when the caller gives up. */
  readonly signal: AbortSignal;
  /** Milliseconds left until shortly before the deadline, so that a step can fail with its own reason. */
  readonly timeoutMs: number;
  /** Starts the browser when it does not run. */
  connection(): Promise<BrowserConnection>;
  /** Undefined when the browser does not run; does not start it. */
  running(): Promise<BrowserConnection | undefined>;
  /** The tab a request names, or the last one used; checked: an agent gets no tab with a blocked page. */
  tab(targetId: string | undefined): Promise<Tab>;
  /** The same unchecked, for routes that replace, focus or close the page without reading it. */
  anyTab(targetId: string | undefined): Promise<Tab>;
  /** Before a further step on a tab and before a tab from elsewhere is read: throws when an agent may not see its page. */
  check(tab: Tab): Promise<void>;
}

export interface Route {
  readonly method: ControlRequest["method"];
  /** Segments that start with ":" are parameters. */
  readonly path: string;
  readonly params: Checker<Record<string, unknown>>;
  run(params: Record<string, unknown>, call: RouteCall): Promise<ControlAnswer>;
}

export function route<P extends TObject>(
  method: Route["method"],
  path: string,
  params: P,
  run: (params: Static<P>, call: RouteCall) => Promise<ControlAnswer>,
): Route {
  return { method, path, params: checker(params) as Route["params"], run: run as Route["run"] };
}

export const targetId = Type.Optional(Type.String({ minLength: 1 }));

/** The values of the ":" segments; undefined when the path does not match. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split("/"), path.replace(/\/+$/, "").split("/")];
  if (path === "/" && pattern === "/") return {};
  if (wanted.length !== given.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) values[part.slice(1)] = decodeSegment(value);
    else if (part !== value) return undefined;
  }
  return values;
}

export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw browserError("browser.bad-request", "the path is not valid URL encoding");
    throw error;
  }
}
