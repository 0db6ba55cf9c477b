// Which address and port the gateway listens on, and when it must refuse to.
import { networkInterfaces } from "node:os";

import { errnoOf, OpenClawError } from "../core/error.ts";
import type { Env } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";

export const DEFAULT_PORT = 18_789;

export interface Binding {
  /** The first one is shown to people. */
  readonly hosts: readonly string[];
  readonly port: number;
}

export interface BindFlags {
  readonly port?: number | undefined;
  readonly bind?: string | undefined;
}

export function bindingOf(config: Config, env: Env, flags: BindFlags, hasSecret: boolean): Binding {
  const mode = flags.bind ?? config.gateway?.bind ?? "loopback";
  const port = flags.port ?? portFromEnv(env) ?? config.gateway?.port ?? DEFAULT_PORT;
  const hosts = hostsOf(mode, config);
  if (mode !== "loopback" && mode !== "auto" && !hasSecret) {
    throw new OpenClawError("gateway.open-bind", `refusing to bind gateway to ${hosts[0]} without auth`, {
      hint: "openclaw config set gateway.auth.token <a long random word>",
    });
  }
  return { hosts, port };
}

function hostsOf(mode: string, config: Config): string[] {
  if (mode === "loopback" || mode === "auto") return ["127.0.0.1", "::1"];
  if (mode === "lan") return ["0.0.0.0"];
  if (mode === "tailnet") return [tailnetAddress()];
  if (mode === "custom") {
    const host = config.gateway?.customBindHost;
    if (host !== undefined) return [host];
    throw new OpenClawError("gateway.no-host", "gateway.bind is custom but gateway.customBindHost is not set", {
      hint: "openclaw config set gateway.customBindHost <address>",
    });
  }
  throw new OpenClawError("gateway.bad-bind", `unknown bind mode: ${mode}`, {
    hint: "one of loopback, lan, tailnet, auto, custom",
  });
}

function tailnetAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const found = addresses.find(
    ({ family, address }) => family === "IPv4" && /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(address),
  );
  if (found !== undefined) return found.address;
  throw new OpenClawError("gateway.no-tailnet", "gateway.bind is tailnet but this machine has no tailnet address", {
    hint: "start Tailscale, or: openclaw config set gateway.bind loopback",
  });
}

function portFromEnv(env: Env): number | undefined {
  const raw = env["OPENCLAW_GATEWAY_PORT"];
  if (raw === undefined || raw.trim() === "") return undefined;
  const port = Number(raw);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new OpenClawError("gateway.bad-port", `OPENCLAW_GATEWAY_PORT is not a port: ${raw}`, {
    hint: "a number from 1 to 65535",
  });
}

/** Why an address could not be opened, and how to fix it. */
export function cannotListen(cause: Error, host: string, port: number): OpenClawError {
  const taken = errnoOf(cause) === "EADDRINUSE";
  return new OpenClawError(
    taken ? "gateway.port-taken" : "gateway.cannot-bind",
    taken
      ? `another gateway instance is already listening on ws://${host}:${port}`
      : `failed to bind gateway socket on ws://${host}:${port}: ${cause.message}`,
    {
      cause,
      hint: taken
        ? `openclaw gateway status, or choose another port: openclaw gateway run --port ${port + 20}`
        : "check gateway.bind and gateway.port",
    },
  );
}
