// The shared secret of the gateway: which one is in force, and whether a caller knows it.
import type { Env } from "../base/paths.ts";
import { sameSecret } from "../base/ids.ts";

export interface SharedSecret {
  readonly mode: "token" | "password";
  /** Undefined: none is set, and every client without a paired device is rejected. */
  readonly value: string | undefined;
}

type Auth = { readonly mode?: SharedSecret["mode"] | undefined } & Partial<
  Record<SharedSecret["mode"], string | undefined>
>;

/** The environment wins over the config, in the gateway and in every program that connects to it. */
export function sharedSecret(
  config: { readonly gateway?: { readonly auth?: Auth | undefined } | undefined },
  env: Env,
): SharedSecret {
  const auth = config.gateway?.auth ?? {};
  const mode = modeOfRun(env) ?? auth.mode ?? guessedMode(auth, env);
  return { mode, value: filled(env[variableOf[mode]]) ?? filled(auth[mode]) };
}

export const variableOf = { token: "OPENCLAW_GATEWAY_TOKEN", password: "OPENCLAW_GATEWAY_PASSWORD" } as const;

function filled(word: string | undefined): string | undefined {
  const plain = word?.trim();
  return plain === "" ? undefined : plain;
}

/** `openclaw gateway run --auth` decides for its own run. */
function modeOfRun(env: Env): SharedSecret["mode"] | undefined {
  const word = env["OPENCLAW_GATEWAY_AUTH"];
  return word === "token" || word === "password" ? word : undefined;
}

/** A token where one is set; a password only without a token. */
function guessedMode(auth: Auth, env: Env): SharedSecret["mode"] {
  const has = (mode: SharedSecret["mode"]): boolean =>
    (filled(env[variableOf[mode]]) ?? filled(auth[mode])) !== undefined;
  return !has("token") && has("password") ? "password" : "token";
}

/** A random 128-bit token needs no limit on attempts; a password or a short token does. */
export function isGuessable({ mode, value }: SharedSecret): boolean {
  return mode === "password" || value === undefined || isShortToken(value);
}

export function isShortToken(value: string): boolean {
  return value.length < 16 || new Set(value).size < 8;
}

export function knowsSecret(secret: SharedSecret, given: string | undefined): boolean {
  return secret.value !== undefined && given !== undefined && sameSecret(given, secret.value);
}
