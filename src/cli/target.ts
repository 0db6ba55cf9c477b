// Which gateway a command connects to, and with which secret: flags, then a remote gateway, then the one on this machine.
import { OpenClawError } from "../core/error.ts";
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import { bindingOf, DEFAULT_PORT } from "../gateway/bind.ts";
import { sharedSecret, type SharedSecret } from "../gateway/secret.ts";
import { UsageError, type Options } from "./command.ts";
import type { Io } from "./io.ts";
import { wholeNumber } from "./parse.ts";
import { readUncheckedConfig, type UncheckedConfig } from "./settings.ts";

/** For every command that connects to a gateway. */
export const wireOptions = {
  url: { type: "string", value: "ws://…", description: "Connect to this gateway; requires --token or --password." },
  token: { type: "string", value: "token", description: "Token of the gateway." },
  password: { type: "string", value: "password", description: "Password of the gateway." },
  timeout: { type: "string", value: "ms", description: "How long to wait for a response (default: 10000)." },
} as const satisfies Options;

/** For every `openclaw system` command. */
export const systemOptions = {
  ...wireOptions,
  "expect-final": { type: "boolean", description: "Accepted for older scripts; has no effect." },
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
  /** For messages: `this machine`, `gateway.remote.url` or `--url`. */
  readonly from: string;
  readonly isLocal: boolean;
  readonly timeoutMs: number;
  /** SHA-256 of the one certificate that is trusted, 64 hexadecimal digits in lower case. */
  readonly tlsFingerprint?: string;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEV_PORT = 19_001;

export async function targetOf(io: Io, flags: WireFlags, known?: UncheckedConfig): Promise<Target> {
  const timeoutMs = timeoutOf(flags);
  if (flags.url !== undefined) return explicitTarget(flags, flags.url, timeoutMs);
  const unchecked = known ?? (await readUncheckedConfig(io));
  const target =
    unchecked.text("gateway.mode") === "remote"
      ? remoteTarget(unchecked, timeoutMs)
      : localTarget(io, unchecked, timeoutMs);
  return {
    ...target,
    ...(flags.token === undefined ? {} : { token: flags.token, password: undefined }),
    ...(flags.password === undefined ? {} : { token: undefined, password: flags.password }),
  };
}

/** All gateways in the flags and the config, this machine first. */
export function everyTarget(io: Io, flags: WireFlags, unchecked: UncheckedConfig): Target[] {
  const timeoutMs = timeoutOf(flags);
  return [
    localTarget(io, unchecked, timeoutMs),
    ...(unchecked.text("gateway.remote.url") === undefined ? [] : [remoteTarget(unchecked, timeoutMs)]),
    ...(flags.url === undefined ? [] : [explicitTarget(flags, flags.url, timeoutMs)]),
  ];
}

/** A secret of one gateway must not reach another, so nothing is inherited (docs/decisions/0020-no-inherited-gateway-secret.md). */
function explicitTarget({ token, password }: WireFlags, url: string, timeoutMs: number): Target {
  if (token === undefined && password === undefined) {
    throw new UsageError("--url requires --token or --password; the configured secret is not sent to another gateway");
  }
  return { url: checkedUrl(url, "--url"), token, password, from: "--url", isLocal: false, timeoutMs };
}

function remoteTarget(unchecked: UncheckedConfig, timeoutMs: number): Target {
  const url = unchecked.text("gateway.remote.url");
  if (url === undefined) {
    throw new OpenClawError("cli.no-remote", "gateway.mode is remote but gateway.remote.url is not set", {
      hint: "openclaw config set gateway.remote.url ws://<host>:18789",
    });
  }
  return {
    url: checkedUrl(url, "gateway.remote.url"),
    token: unchecked.text("gateway.remote.token"),
    password: unchecked.text("gateway.remote.password"),
    from: "gateway.remote.url",
    isLocal: false,
    timeoutMs,
  };
}

/** The secret of the gateway on this machine, as the gateway itself finds it. */
export function localSecret(unchecked: UncheckedConfig): Pick<Target, "token" | "password"> {
  const word = unchecked.text("gateway.auth.mode");
  const auth = {
    mode: word === "token" || word === "password" ? (word as SharedSecret["mode"]) : undefined,
    token: unchecked.text("gateway.auth.token"),
    password: unchecked.text("gateway.auth.password"),
  };
  const { mode, value } = sharedSecret({ gateway: { auth } }, unchecked.env);
  return { token: undefined, password: undefined, [mode]: value };
}

function localTarget(io: Io, unchecked: UncheckedConfig, timeoutMs: number): Target {
  return {
    url: `ws://${localHost(unchecked)}:${localPort(io, unchecked)}`,
    ...localSecret(unchecked),
    from: "this machine",
    isLocal: true,
    timeoutMs,
  };
}

/** With these two modes the gateway does not listen on loopback. */
function localHost(unchecked: UncheckedConfig): string {
  const bind = unchecked.text("gateway.bind");
  if (bind !== "tailnet" && bind !== "custom") return "127.0.0.1";
  const customBindHost = unchecked.text("gateway.customBindHost");
  const [host = "127.0.0.1"] = bindingOf({ gateway: { bind, customBindHost } }, {}, {}, true).hosts;
  return host.includes(":") ? `[${host}]` : host;
}

/** The port that the running gateway reports; else the one it would use. */
export function localPort(io: Io, unchecked: UncheckedConfig): number {
  return readLockOwner(stateLockOf(io.paths().state))?.port ?? wantedPort(io, unchecked);
}

export function wantedPort(io: Io, unchecked: UncheckedConfig): number {
  const fromEnv = Number(unchecked.env["OPENCLAW_GATEWAY_PORT"] || Number.NaN);
  if (Number.isInteger(fromEnv)) return fromEnv;
  return unchecked.number("gateway.port") ?? (io.profile === "dev" ? DEV_PORT : DEFAULT_PORT);
}

function timeoutOf({ timeout }: WireFlags): number {
  return wholeNumber("timeout", timeout, { min: 1, max: 3_600_000 }) ?? DEFAULT_TIMEOUT_MS;
}

function checkedUrl(written: string, from: string): string {
  const url = URL.canParse(written) ? new URL(written.replace(/^http/, "ws")) : undefined;
  if (url !== undefined && (url.protocol === "ws:" || url.protocol === "wss:")) return url.href.replace(/\/$/, "");
  throw new OpenClawError("cli.bad-url", `${from} is not a WebSocket address: ${written}`, {
    hint: "use a form such as ws://127.0.0.1:18789 or wss://host",
  });
}
