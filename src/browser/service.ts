// The control service of this machine: finds the route, checks the request and the caller, and runs it within its deadline.
import { untilAborted } from "../base/abort.ts";
import { OpenClawError } from "../core/error.ts";
import { actFailure } from "./act/failure.ts";
import { Browsers, type BrowserDeps } from "./browsers.ts";
import type { BrowserConnection } from "./connection.ts";
import type { BrowserControl, ControlAnswer, ControlCaller, ControlRequest } from "./control.ts";
import { browserDisabled, browserError } from "./errors.ts";
import { profileOf, requireAllowedProfiles, withoutDeniedProfiles, withProfileInQuery } from "./profile-policy.ts";
import { findProfile, type Profile } from "./profiles.ts";
import { matchPath, type Route, type RouteCall } from "./route.ts";
import { actRoutes } from "./routes/act.ts";
import { cookieRoutes } from "./routes/cookies.ts";
import { inspectRoutes } from "./routes/inspect.ts";
import { manageRoutes } from "./routes/manage.ts";
import { networkRoutes } from "./routes/network.ts";
import { settingRoutes } from "./routes/settings.ts";
import { tabActionRoutes } from "./routes/tab-actions.ts";
import { tabRoutes } from "./routes/tabs.ts";
import { traceRoutes } from "./routes/trace.ts";
import type { Tab } from "./tab.ts";

const DEFAULT_MS = 20_000;
const MAX_MS = 120_000;
const MARGIN_MS = 250;

const routes: readonly Route[] = [
  ...manageRoutes,
  ...tabRoutes,
  ...tabActionRoutes,
  ...inspectRoutes,
  ...actRoutes,
  ...cookieRoutes,
  ...networkRoutes,
  ...settingRoutes,
  ...traceRoutes,
];

export interface BrowserService extends BrowserControl {
  /** Takes over browsers of a gateway that was killed. */
  recover(): Promise<void>;
  /** Applies a changed config. */
  reload(): Promise<void>;
}

export function createBrowserService(deps: BrowserDeps): BrowserService {
  const browsers = new Browsers(deps);
  return {
    async request(request, caller) {
      if (deps.config().browser?.enabled === false) throw browserDisabled();
      const one = withProfileInQuery(request);
      const profile = findProfile(browsers.profiles(), profileOf(one));
      requireAllowedProfiles(one, caller, profile.name);
      const { found, params } = findRoute(one);
      const { profile: _profile, ...rest } = params;
      const checked = found.params.parse(rest, "browser.bad-request", `request for ${found.path}`);
      const call = new Call(browsers, profile, caller, request.timeoutMs);
      const answer = await browsers.use(profile, () => call.perform(found, checked));
      return withoutDeniedProfiles(one, answer, caller);
    },
    recover: () => browsers.recover(),
    reload: () => browsers.reload(),
    close: () => browsers.close(),
  };
}

function findRoute({ method, path, query, body }: ControlRequest): {
  readonly found: Route;
  readonly params: Record<string, unknown>;
} {
  for (const found of routes) {
    const values = found.method === method ? matchPath(found.path, path) : undefined;
    if (values === undefined) continue;
    if (body !== undefined && body !== null && (typeof body !== "object" || Array.isArray(body)))
      throw browserError("browser.bad-request", "the body must be a JSON object");
    return { found, params: { ...query, ...(body as object | undefined), ...values } };
  }
  throw browserError("browser.not-found", "Not Found");
}

/** One request: a deadline for all of it, and the tabs that it used. */
class Call implements RouteCall {
  readonly browsers: Browsers;
  readonly caller: ControlCaller;
  readonly profile: Profile;
  readonly signal: AbortSignal;
  readonly #limitMs: number;
  readonly #deadline: number;
  #connection: BrowserConnection | undefined;
  /** The tabs it used. Those whose pages an agent reads have a mark of the guard. */
  readonly #tabs = new Map<Tab, number | undefined>();

  constructor(browsers: Browsers, profile: Profile, caller: ControlCaller, wantedMs: number | undefined) {
    this.browsers = browsers;
    this.profile = profile;
    this.caller = caller;
    this.#limitMs = Math.min(Math.max(wantedMs ?? DEFAULT_MS, 1), MAX_MS);
    this.#deadline = performance.now() + this.#limitMs;
    this.signal = AbortSignal.any([caller.signal, AbortSignal.timeout(this.#limitMs)]);
  }

  get timeoutMs(): number {
    return Math.max(1, Math.round(this.#deadline - performance.now() - MARGIN_MS));
  }

  async connection(): Promise<BrowserConnection> {
    return (this.#connection = await this.browsers.open(this.profile, this.signal));
  }

  async running(): Promise<BrowserConnection | undefined> {
    return (this.#connection = await this.browsers.running(this.profile, this.signal));
  }

  anyTab(targetId: string | undefined): Promise<Tab> {
    return this.#tab(targetId, false);
  }

  async tab(targetId: string | undefined): Promise<Tab> {
    const tab = await this.#tab(targetId, true);
    const { pages } = await this.connection();
    if (this.caller.who === "agent") await pages.requireReadable(tab);
    await this.check(tab);
    return tab;
  }

  async check(tab: Tab): Promise<void> {
    const { pages } = await this.connection();
    if (this.caller.who !== "agent") return;
    const mark = this.#tabs.get(tab) ?? pages.mark(tab.page);
    this.#tabs.set(tab, mark);
    await pages.requireReadable(tab, mark);
  }

  async #tab(targetId: string | undefined, isRead: boolean): Promise<Tab> {
    const connection = await this.connection();
    const hasLoss = this.browsers.takeLoss(this.profile);
    if (hasLoss && (isRead || targetId !== undefined)) throw lostTabs(this.profile);
    const tab = await connection.tab(targetId);
    await connection.requireAlive(tab);
    this.#tabs.set(tab, this.#tabs.get(tab));
    return tab;
  }

  async perform(found: Route, params: Record<string, unknown>): Promise<ControlAnswer> {
    try {
      const answer = await untilAborted(found.run(params, this), this.signal);
      await this.#requireReadable();
      return answer;
    } catch (error) {
      // The error may quote the page.
      if (!(error instanceof OpenClawError && error.code === "browser.blocked")) await this.#requireReadable();
      throw this.#failure(error);
    }
  }

  /** A page may have gone elsewhere while it was read, also if it is closed now. */
  async #requireReadable(): Promise<void> {
    for (const [tab, mark] of this.#tabs)
      if (mark !== undefined) await this.#connection?.pages.requireReadable(tab, mark);
  }

  #failure(error: unknown): unknown {
    if (this.caller.signal.aborted) return this.caller.signal.reason;
    if (this.#connection?.isConnected === false) {
      this.browsers.noteLoss(this.profile);
      return browserError("browser.gone", `the browser of profile "${this.profile.name}" ended during this call`, {
        hint: "the next call starts it again; open the page again then",
        cause: error,
      });
    }
    // Playwright gives up shortly before the deadline of the call.
    const isLate = this.signal.aborted || isTimeout(error);
    if (isLate) for (const tab of this.#tabs.keys()) tab.interrupt();
    if (error instanceof OpenClawError) return error;
    if (!isLate) return isFromPlaywright(error) ? actFailure("the request", error, this.#limitMs) : error;
    return browserError("browser.timeout", `the browser did not finish within ${this.#limitMs} ms`, {
      hint: "the page may hang or load slowly: try again with a larger timeoutMs, or open it in a new tab",
      cause: error,
    });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}

/** Its messages start with the method, such as `page.pdf: `; any other error is a bug of ours. */
function isFromPlaywright(error: unknown): boolean {
  return error instanceof Error && /^[a-zA-Z]+\.[a-zA-Z]+: /.test(error.message);
}

function lostTabs({ name }: Profile): Error {
  return browserError(
    "browser.gone",
    `the browser of profile "${name}" ended unexpectedly since the last call and was started again; its tabs are closed`,
    { hint: "open the page again with action=open" },
  );
}
