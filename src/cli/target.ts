// Which gateway a command speaks to, and with which secret: flags, then a remote gateway, then the one on this machine.
import { OpenClawError } from "../core/error.ts";
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import { bindingOf, DEFAULT_PORT } from "../gateway/bind.ts";
import { sharedSecret, type SharedSecret } from "../gateway/secret.ts";
import { UsageError, type Options } from "./command.ts";
import type { Io } from "./io.ts";
import { wholeNumber } from "./parse.ts";
import { glanceAtConfig, type Glance } from "./settings.ts";

/** For every command that speaks to a gateway. */
export const wireOptions = {
  url: { type: "string", value: "ws://…", description: "Another gateway; needs --token or --password beside it." },
  token: { type: "string", value: "token", description: "Its token." },
  password: { type: "string", value: "password", description: "Its password." },
  timeout: { type: "string", value: "ms", description: "How long to wait for an answer (default: 10000)." },
} as const satisfies Options;

export interface WireFlags {
  readonly url?: string;
  readonly token?: string;
  readonly password?: string;
  readonly timeout?: string;
}

export interface Target {
  readonly url: string;
  readonly token: string | undefined;
  readonly password: string | undefined;
  /** In words, for messages: `this machine`, `gateway.remote.url`, `--url`. */
  readonly from: string;
  readonly isLocal: boolean;
  readonly timeoutMs: number;
  /** SHA-256 of the one certificate that is trusted, 64 hexadecimal digits in lower case. */
  readonly tlsFingerprint?: string;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEV_PORT = 19_001;

export async function targetOf(io: Io, flags: WireFlags, known?: Glance): Promise<Target> {
  const timeoutMs = timeoutOf(flags);
  if (flags.url !== undefined) return explicitTarget(flags, flags.url, timeoutMs);
  const glance = known ?? (await glanceAtConfig(io));
  const target =
    glance.text("gateway.mode") === "remote" ? remoteTarget(glance, timeoutMs) : localTarget(io, glance, timeoutMs);
  return {
    ...target,
    ...(flags.token === undefined ? {} : { token: flags.token, password: undefined }),
    ...(flags.password === undefined ? {} : { token: undefined, password: flags.password }),
  };
}

/** All gateways the flags and the config name, this machine first. */
export function everyTarget(io: Io, flags: WireFlags, glance: Glance): Target[] {
  const timeoutMs = timeoutOf(flags);
  return [
    localTarget(io, glance, timeoutMs),
    ...(glance.text("gateway.remote.url") === undefined ? [] : [remoteTarget(glance, timeoutMs)]),
    ...(flags.url === undefined ? [] : [explicitTarget(flags, flags.url, timeoutMs)]),
  ];
}

/** Nothing is inherited: a secret of one gateway must not reach another (docs/decisions/0020-no-inherited-gateway-secret.md). */
function explicitTarget({ token, password }: WireFlags, url: string, timeoutMs: number): Target {
  if (token === undefined && password === undefined) {
    throw new UsageError(
      "--url needs --token or --password beside it; the configured secret is not sent to another gateway",
    );
  }
  return { url: checkedUrl(url, "--url"), token, password, from: "--url", isLocal: false, timeoutMs };
}

function remoteTarget(glance: Glance, timeoutMs: number): Target {
  const url = glance.text("gateway.remote.url");
  if (url === undefined) {
    throw new OpenClawError("cli.no-remote", "gateway.mode is remote but gateway.remote.url is not set", {
      hint: "openclaw config set gateway.remote.url ws://<host>:18789",
    });
  }
  return {
    url: checkedUrl(url, "gateway.remote.url"),
    token: glance.text("gateway.remote.token"),
    password: glance.text("gateway.remote.password"),
    from: "gateway.remote.url",
    isLocal: false,
    timeoutMs,
  };
}

/** The secret of the gateway on this machine, as the gateway itself finds it. */
export function localSecret(glance: Glance): Pick<Target, "token" | "password"> {
  const word = glance.text("gateway.auth.mode");
  const auth = {
    mode: word === "token" || word === "password" ? (word as SharedSecret["mode"]) : undefined,
    token: glance.text("gateway.auth.token"),
    password: glance.text("gateway.auth.password"),
  };
  const { mode, value } = sharedSecret({ gateway: { auth } }, glance.env);
  return { token: undefined, password: undefined, [mode]: value };
}

function localTarget(io: Io, glance: Glance, timeoutMs: number): Target {
  return {
    url: `ws://${localHost(glance)}:${localPort(io, glance)}`,
    ...localSecret(glance),
    from: "this machine",
    isLocal: true,
    timeoutMs,
  };
}

/** With these two modes loopback does not answer. */
function localHost(glance: Glance): string {
  const bind = glance.text("gateway.bind");
  if (bind !== "tailnet" && bind !== "custom") return "127.0.0.1";
  const customBindHost = glance.text("gateway.customBindHost");
  const [host = "127.0.0.1"] = bindingOf({ gateway: { bind, customBindHost } }, {}, {}, true).hosts;
  return host.includes(":") ? `[${host}]` : host;
}

/** The port the running gateway says it has; else the one it would take. */
export function localPort(io: Io, glance: Glance): number {
  return readLockOwner(stateLockOf(io.paths().state))?.port ?? wantedPort(io, glance);
}

export function wantedPort(io: Io, glance: Glance): number {
  const fromEnv = Number(glance.env["OPENCLAW_GATEWAY_PORT"] || Number.NaN);
  if (Number.isInteger(fromEnv)) return fromEnv;
  return glance.number("gateway.port") ?? (io.profile === "dev" ? DEV_PORT : DEFAULT_PORT);
}

function timeoutOf({ timeout }: WireFlags): number {
  return wholeNumber("timeout", timeout, { min: 1, max: 3_600_000 }) ?? DEFAULT_TIMEOUT_MS;
}

function checkedUrl(written: string, from: string): string {
  const url = URL.canParse(written) ? new URL(written.replace(/^http/, "ws")) : undefined;
  if (url !== undefined && (url.protocol === "ws:" || url.protocol === "wss:")) return url.href.replace(/\/$/, "");
  throw new OpenClawError("cli.bad-url", `${from} is not a WebSocket address: ${written}`, {
    hint: "write it like ws://127.0.0.1:18789 or wss://host",
  });
}
