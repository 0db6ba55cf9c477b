// The shared secret of the gateway: which one is in force and whether a caller knows it.
import type { Env } from "../base/paths.ts";
import { sameSecret } from "../base/ids.ts";
import type { Config } from "../config/schema/index.ts";

export interface SharedSecret {
  readonly mode: "token" | "password";
  /** Undefined: none is set, and everybody without a paired device is refused. */
  readonly value: string | undefined;
}

export function sharedSecret(config: Config, env: Env): SharedSecret {
  const auth = config.gateway?.auth;
  const mode = modeOfRun(env) ?? auth?.mode ?? guessedMode(auth ?? {}, env);
  const fromEnv = mode === "token" ? env["OPENCLAW_GATEWAY_TOKEN"] : env["OPENCLAW_GATEWAY_PASSWORD"];
  const value = fromEnv || (mode === "token" ? auth?.token : auth?.password);
  return { mode, value: value === undefined || value.trim() === "" ? undefined : value };
}

/** `openclaw gateway run --auth` decides for its own run. */
function modeOfRun(env: Env): SharedSecret["mode"] | undefined {
  const word = env["OPENCLAW_GATEWAY_AUTH"];
  return word === "token" || word === "password" ? word : undefined;
}

/** A token wherever there is one; a password only where nothing else is. */
function guessedMode(auth: { readonly token?: string; readonly password?: string }, env: Env): SharedSecret["mode"] {
  const hasToken = (env["OPENCLAW_GATEWAY_TOKEN"] || auth.token) !== undefined;
  const hasPassword = (env["OPENCLAW_GATEWAY_PASSWORD"] || auth.password) !== undefined;
  return !hasToken && hasPassword ? "password" : "token";
}

export function knowsSecret(secret: SharedSecret, given: string | undefined): boolean {
  return secret.value !== undefined && given !== undefined && sameSecret(given, secret.value);
}
