// Browser profiles: which exist, where their browser is, and which port a new one gets.
import type { AgentId } from "../core/names.ts";
import type { Env } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { browserError } from "./errors.ts";

export interface Profile {
  readonly name: string;
  /** `managed`: started by us. `relay`: tabs of the user's own browser. `remote`: a browser elsewhere, attach only. */
  readonly kind: "managed" | "relay" | "remote";
  readonly cdpPort?: number | undefined;
  /** May contain credentials; show `maskUrl(cdpUrl)` instead. */
  readonly cdpUrl: string;
  /** The config names a URL: a browser that answers there is used as it is. */
  readonly isUrlGiven: boolean;
  readonly driver: "openclaw" | "extension";
  readonly color: string;
  readonly isDefault: boolean;
}

export interface Ports {
  readonly control: number;
  readonly relay: number;
  readonly firstCdp: number;
  readonly lastCdp: number;
}

const DEFAULT_GATEWAY_PORT = 18_789;
const OWN = "openclaw";
const RELAY = "chrome";

/** Profiles that exist without an entry in the config. */
export const builtInProfiles: readonly string[] = [OWN, RELAY];

/** The ports next to the gateway's own: control +2, relay +3, browsers +11 to +110. */
export function portsOf(gatewayPort: number = DEFAULT_GATEWAY_PORT): Ports {
  return {
    control: gatewayPort + 2,
    relay: gatewayPort + 3,
    firstCdp: gatewayPort + 11,
    lastCdp: gatewayPort + 110,
  };
}

/** The ports of a gateway that is not listening yet, or of a node. */
export function configuredPorts(env: Env, { gateway }: Config): Ports {
  return portsOf(Number(env["OPENCLAW_GATEWAY_PORT"] ?? gateway?.port ?? DEFAULT_GATEWAY_PORT));
}

/** `openclaw` and `chrome` always exist; the others are in `browser.profiles`. */
export function profilesOf(config: Config, ports: Ports): readonly Profile[] {
  const { browser = {} } = config;
  const configured = browser.profiles ?? {};
  const names = [...new Set([OWN, RELAY, ...Object.keys(configured)])];
  const taken = new Set(Object.values(configured).flatMap(({ cdpPort }) => (cdpPort === undefined ? [] : [cdpPort])));
  return names.map((name) => {
    const given = configured[name] ?? {};
    const isRelay = given.driver === "extension" || (name === RELAY && given.cdpUrl === undefined);
    const shared = {
      name,
      color: given.color ?? (name === RELAY ? "#00AA00" : (browser.color ?? "#FF4500")),
      isDefault: name === (browser.defaultProfile ?? RELAY),
    };
    if (isRelay)
      return {
        ...shared,
        kind: "relay",
        driver: "extension",
        cdpPort: ports.relay,
        cdpUrl: loopback(ports.relay),
        isUrlGiven: false,
      };
    const url = given.cdpUrl ?? inheritedUrl(browser.cdpUrl, name, given.cdpPort);
    if (url !== undefined && !isLoopback(url))
      return { ...shared, kind: "remote", driver: "openclaw", cdpUrl: url, isUrlGiven: true };
    const cdpPort =
      (url === undefined ? undefined : portIn(url)) ??
      given.cdpPort ??
      (name === OWN ? (browser.cdpPort ?? ports.firstCdp) : freePort(ports, taken));
    taken.add(cdpPort);
    const cdpUrl = url ?? loopback(cdpPort);
    return { ...shared, kind: "managed", driver: "openclaw", cdpPort, cdpUrl, isUrlGiven: url !== undefined };
  });
}

/** `browser.cdpUrl` is the URL of the openclaw profile, and the host of remote profiles that name only a port. */
function inheritedUrl(base: string | undefined, name: string, port: number | undefined): string | undefined {
  if (base === undefined || base === "" || (name !== OWN && isLoopback(base))) return undefined;
  if (port === undefined) return name === OWN ? base : undefined;
  const url = URL.parse(base);
  if (url === null || name === OWN) return base;
  url.port = String(port);
  return url.href;
}

export function findProfile(profiles: readonly Profile[], name: string | undefined): Profile {
  const found = profiles.find((one) => (name === undefined ? one.isDefault : one.name === name));
  if (found !== undefined) return found;
  const known = profiles.map((one) => one.name).join(", ");
  throw browserError(
    "browser.unknown-profile",
    `there is no browser profile "${name ?? "default"}" (known: ${known})`,
    {
      hint: `openclaw browser create-profile --name ${name ?? OWN}`,
    },
  );
}

/** Lower-case letters, digits and hyphens, at most 64. */
export function requireProfileName(name: string): void {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) return;
  throw browserError(
    "browser.bad-profile-name",
    "a profile name has 1 to 64 lower-case letters, digits and hyphens, and starts with a letter or digit",
  );
}

/** The lowest port of the range that no profile uses. */
export function freePort({ firstCdp, lastCdp }: Ports, taken: ReadonlySet<number>): number {
  for (let port = firstCdp; port <= lastCdp; port++) if (!taken.has(port)) return port;
  throw browserError("browser.no-port", `all ports for browser profiles are in use (${firstCdp} to ${lastCdp})`, {
    hint: "openclaw browser delete-profile --name <name>",
  });
}

/** Profiles an agent may use; undefined allows all. */
export function allowedProfiles(config: Config, agent: AgentId): readonly string[] | undefined {
  return agentConfig(config, agent)?.tools?.browser?.profiles ?? config.tools?.browser?.profiles;
}

/** A debugging URL without its credentials: user, password, values of the query and long parts of the path. */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return "***";
  if (url.username !== "" || url.password !== "") {
    url.username = "***";
    url.password = "";
  }
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, "***");
  url.pathname = url.pathname.replaceAll(/[^/]{16,}/g, "***");
  url.hash = "";
  const shown = url.href;
  return url.pathname === "/" && !text.endsWith("/") ? shown.replace(/\/(?=\?|$)/, "") : shown;
}

const loopback = (port: number): string => `http://127.0.0.1:${port}`;

export function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function portIn(url: string): number | undefined {
  const port = URL.parse(url)?.port ?? "";
  return port === "" ? undefined : Number(port);
}
