// The browsers of sandboxed sessions: one control service for each sandbox, whose browser has one profile of its own.
import { existsSync } from "node:fs";

import { createLanes } from "../../base/lane.ts";
import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError, ToolError } from "../../core/error.ts";
import type { SandboxBrowserSettings } from "../../exec/sandbox-settings.ts";
import type { Who } from "../../exec/sandbox/scope.ts";
import type { BrowserSandbox, Sandboxes } from "../../exec/sandboxes.ts";
import type { Guard } from "../../media/guard/guard.ts";
import type { MediaStore } from "../../media/store.ts";
import type { BrowserControl, ControlAnswer, ControlCaller, ControlRequest } from "../control.ts";
import { browserError } from "../errors.ts";
import type { Profile } from "../profiles.ts";
import { createBrowserService } from "../service.ts";
import { createBridgeSockets } from "./sockets.ts";
import { spawnInSandbox } from "./spawn-in-sandbox.ts";

export interface SandboxBrowserDeps {
  readonly paths: Paths;
  readonly env: Env;
  readonly config: () => Config;
  readonly guard: Guard;
  readonly media: MediaStore;
  readonly log: Log;
  readonly sandboxes: Pick<Sandboxes, "browserOf">;
}

export interface SandboxBrowsers {
  request(
    who: Who,
    settings: SandboxBrowserSettings,
    request: ControlRequest,
    caller: ControlCaller,
  ): Promise<ControlAnswer>;
  close(): Promise<void>;
}

/** No port of this machine: the browser listens there inside of its own network namespace. */
const CDP_PORT = 9222;
const PROFILE = "openclaw";

export function createSandboxBrowsers(deps: SandboxBrowserDeps): SandboxBrowsers {
  const open = new Map<string, OpenBrowser>();
  const lanes = createLanes();

  /** A sandbox that was removed meanwhile gets a new browser. */
  const controlOf = async (who: Who, settings: SandboxBrowserSettings): Promise<BrowserControl> => {
    const sandbox = await sandboxOf(deps, who);
    return lanes.run(sandbox.name, async () => {
      const known = open.get(sandbox.name);
      if (known !== undefined && existsSync(sandbox.folder)) return known;
      await known?.close();
      const opened = openBrowser(deps, sandbox, settings);
      open.set(sandbox.name, opened);
      return opened;
    });
  };

  return {
    async request(who, settings, request, caller) {
      const control = await controlOf(who, settings);
      if (!settings.autoStart && !worksStopped.has(request.path)) await requireRunning(control, caller);
      return control.request(request, caller);
    },
    async close() {
      await Promise.all([...open.values()].map((one) => one.close()));
      open.clear();
    },
  };
}

type OpenBrowser = BrowserControl;

async function sandboxOf({ sandboxes }: SandboxBrowserDeps, who: Who): Promise<BrowserSandbox> {
  try {
    return await sandboxes.browserOf(who);
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    throw new ToolError(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}

function openBrowser(deps: SandboxBrowserDeps, sandbox: BrowserSandbox, settings: SandboxBrowserSettings): OpenBrowser {
  const { env, config, guard, media, log } = deps;
  const sockets = createBridgeSockets();
  const profile: Profile = {
    name: PROFILE,
    kind: "managed",
    driver: "openclaw",
    cdpPort: CDP_PORT,
    cdpUrl: `unix:${sockets.cdpSocket}`,
    isUrlGiven: false,
    color: config().browser?.color ?? "#FF4500",
    isDefault: true,
  };
  const service = createBrowserService({
    paths: { state: sandbox.folder },
    env,
    config: () => sandboxConfig(config()),
    ports: () => ({ control: 0, relay: 0, firstCdp: CDP_PORT, lastCdp: CDP_PORT }),
    guard,
    media,
    log: log.child("sandbox"),
    startMs: settings.autoStartTimeoutMs,
    profiles: () => [profile],
    spawnBrowser: spawnInSandbox(sandbox, sockets),
  });
  return {
    request: (request, caller) => service.request(request, caller),
    async close() {
      await service.close();
      sockets.close();
    },
  };
}

/** Works without `browser.enabled`; a sandbox has no display, and its walls replace those of Chromium. */
function sandboxConfig(config: Config): Config {
  const { cdpUrl: _cdpUrl, profiles: _profiles, ...browser } = config.browser ?? {};
  return {
    ...config,
    browser: { ...browser, enabled: true, headless: true, noSandbox: true, attachOnly: false, defaultProfile: PROFILE },
  };
}

const worksStopped: ReadonlySet<string> = new Set(["/", "/start", "/stop", "/profiles"]);

async function requireRunning(control: BrowserControl, caller: ControlCaller): Promise<void> {
  const { running } = await control.request({ method: "GET", path: "/" }, caller);
  if (running === true) return;
  throw browserError("browser.not-reachable", "the browser of the sandbox does not run (sandbox.browser.autoStart)", {
    hint: "start it with action=start",
  });
}
