// The gateway's environment: the process first, then `<state>/.env`, then the config's `env`. A `.env` in a workspace
// or working directory is not read, because it may be untrusted.
import { join } from "node:path";

import type { Env, Paths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { readBytes } from "./source.ts";

export interface EnvironmentSource {
  readonly paths: Paths;
  readonly env: Env;
}

export interface DotEnv {
  readonly values: Readonly<Record<string, string>>;
  /** Names in a file that are not allowed there. */
  readonly refused: readonly string[];
  /** Why the file could not be read. */
  readonly problem?: string;
}

/** A new record; the process environment is not changed. */
export function readEnvironment({ paths, env }: EnvironmentSource): Env {
  return fillIn(env, readDotEnv(paths).values);
}

export function dotEnvFile(paths: Paths): string {
  return join(paths.state, ".env");
}

export function readDotEnv(paths: Paths): DotEnv {
  try {
    const text = readBytes(dotEnvFile(paths), { follow: true, single: false }).toString("utf8");
    return sift(parseDotEnv(text));
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    return { values: {}, refused: [], ...(error.code === "config.missing" ? {} : { problem: error.message }) };
  }
}

/** The variables of the config's `env`: its own keys and those under `vars`. Values that are not text are skipped. */
export function configVariables(block: unknown): DotEnv {
  if (!isRecord(block)) return { values: {}, refused: [] };
  const { vars, shellEnv: _, ...own } = block;
  return sift(
    Object.entries({ ...(isRecord(vars) ? vars : {}), ...own }).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
}

/** Adds missing and empty variables. */
export function fillIn(env: Env, more: Readonly<Record<string, string>>): Env {
  const missing = Object.entries(more).filter(([name]) => (env[name] ?? "") === "");
  return { ...env, ...Object.fromEntries(missing) };
}

/** `KEY=value` lines with `export`, quotes and comments; no command or variable is expanded. */
function parseDotEnv(text: string): [name: string, value: string][] {
  return text.split(/\r\n|\n|\r/).flatMap((line): [string, string][] => {
    const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line);
    return match === null ? [] : [[match[1] ?? "", unquote((match[2] ?? "").trim())]];
  });
}

function unquote(written: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(written)?.[1];
  if (double !== undefined) return double.replaceAll(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
  const single = /^'([^']*)'/.exec(written)?.[1];
  return single ?? written.replace(/\s+#.*$/, "");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function sift(pairs: readonly (readonly string[])[]): DotEnv {
  const values: Record<string, string> = {};
  const refused: string[] = [];
  for (const [name = "", value = ""] of pairs) {
    if (isSteering(name)) refused.push(name);
    else Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return { values, refused };
}

/**
 * Names that decide where the gateway's files are, which code it loads or what it connects to: only the process may set
 * them.
 */
function isSteering(name: string): boolean {
  return !allowed.has(name) && steering.some((pattern) => pattern.test(name));
}

const allowed: ReadonlySet<string> = new Set(["OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_PASSWORD"]);

const steering: readonly RegExp[] = [
  /^(OPENCLAW|MOLTBOT|CLAWDBOT|PI_BASH|PI_CODING_AGENT)_/i,
  /^(NODE|NPM_CONFIG|LD|DYLD|GIT|SSL)_/i,
  /^(PYTHON|PERL5|RUBY)[A-Z]+$/,
  /^(_?JAVA(_TOOL)?_OPTIONS|BASH_ENV|OLLAMA_HOST|(HTTPS?|ALL|NO)_PROXY)$/i,
  /_(BASE_URL|API_URL|ENDPOINT(_URL)?)$/i,
  /^(PATH|HOME|USERPROFILE|SHELL|ENV|IFS|TMPDIR|TEMP|TMP|PROMPT_COMMAND|__proto__|constructor|prototype)$/i,
];
