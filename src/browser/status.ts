// The status of a browser profile; never starts a browser.
import type { Browsers } from "./browsers.ts";
import { countTabs, discover, handshakes } from "./endpoint.ts";
import { userDataOf } from "./managed-browser.ts";
import { findProgram, hasDisplay, type BrowserProgram } from "./program.ts";
import { maskUrl, type Profile } from "./profiles.ts";

const HANDSHAKE_MS = 3000;

export async function statusOf(browsers: Browsers, profile: Profile): Promise<Record<string, unknown>> {
  const { env, config } = browsers.deps;
  const { browser = {} } = config();
  const { program, error } = detect(browsers);
  const { isRunning, isReady } = await reach(browsers, profile);
  const found = browsers.processOf(profile);
  const isManaged = profile.kind === "managed";
  return {
    enabled: browser.enabled ?? true,
    profile: profile.name,
    driver: profile.driver,
    isRemote: profile.kind === "remote",
    running: isRunning,
    cdpReady: isReady,
    cdpHttp: isRunning,
    pid: found?.pid ?? null,
    cdpPort: profile.cdpPort ?? null,
    cdpUrl: maskUrl(profile.cdpUrl),
    chosenBrowser: found === undefined ? null : (program?.kind ?? "custom"),
    detectedBrowser: program?.kind ?? null,
    detectedExecutablePath: program?.path ?? null,
    detectError: error,
    userDataDir: isManaged && isRunning ? userDataOf(browsers.folder(profile)) : null,
    color: profile.color,
    headless: browser.headless ?? !hasDisplay(env),
    noSandbox: browser.noSandbox ?? false,
    executablePath: browser.executablePath ?? null,
    attachOnly: browser.attachOnly ?? false,
  };
}

/** Undefined when it does not run. */
export async function countTabsOf(browsers: Browsers, profile: Profile): Promise<number | undefined> {
  if (profile.kind !== "relay") return countTabs(profile.cdpUrl, browsers.answerMs(profile));
  const relay = await browsers.deps.relay?.opened();
  return relay?.hasTab() === true ? relay.tabCount() : undefined;
}

async function reach(browsers: Browsers, profile: Profile): Promise<{ isRunning: boolean; isReady: boolean }> {
  if (profile.kind === "relay") {
    const hasTab = (await browsers.deps.relay?.opened())?.hasTab() === true;
    return { isRunning: hasTab, isReady: hasTab };
  }
  const endpoint = await discover(profile.cdpUrl, browsers.answerMs(profile));
  if (endpoint === undefined) return { isRunning: false, isReady: false };
  const ms = browsers.deps.config().browser?.remoteCdpHandshakeTimeoutMs ?? HANDSHAKE_MS;
  const isReady = await handshakes(endpoint, ms);
  // A URL of a WebSocket is not asked over HTTP, so only the handshake tells.
  const isRunning = isReady || !profile.cdpUrl.startsWith("ws");
  return { isRunning, isReady };
}

function detect({ deps }: Browsers): { readonly program?: BrowserProgram | undefined; readonly error: string | null } {
  try {
    return { program: findProgram(deps.env, deps.config().browser?.executablePath), error: null };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
