// Builds the environment of a command: a short list of inherited variables plus those of the call, none that control
// code.
import { delimiter } from "node:path";

import { ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Env } from "../base/paths.ts";
import {
  inheritedNames,
  inheritedPrefixes,
  lookedUpNames,
  ordinaryNames,
  rejectedNames,
  rejectedPatterns,
  rejectedPrefixes,
} from "./environment-rules.ts";

export interface EnvironmentParts {
  /** The gateway's environment; only listed names are inherited. */
  readonly gateway: Env;
  /** Already checked by `rejectVariables`. */
  readonly call: Readonly<Record<string, string>>;
  readonly path: readonly string[];
  readonly tty?: boolean;
}

export function childEnvironment({ gateway, call, path, tty = false }: EnvironmentParts): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(gateway)) {
    if (value !== undefined && isInherited(name) && !hasPassword(value)) env[name] = value;
  }
  env["PATH"] = path.join(delimiter);
  if (tty) env["TERM"] = "xterm-256color";
  else if (env["TERM"] === undefined) env["TERM"] = "dumb";
  return Object.assign(env, call);
}

export type EnvironmentHost = "gateway" | "node" | "sandbox";

/**
 * Throws for the first variable that the call may not set. In a sandbox only the syntax counts, because the code runs
 * inside anyway.
 */
export function rejectVariables(env: Readonly<Record<string, string>>, host: EnvironmentHost): void {
  for (const [name, value] of Object.entries(env)) {
    const shown = visible(name, 100);
    if (!grammar.test(name)) throw refused(name, `${JSON.stringify(shown)} is not a valid variable name`);
    if (typeof value !== "string" || value.includes("\0") || !value.isWellFormed())
      throw refused(name, `the value of ${shown} is not plain text`);
    if (host !== "sandbox" && isUnsafeValue(name, value))
      throw refused(name, `the value of ${shown} names a file or contains a shell function (host=${host})`);
    const isOurs = /^(?:OPENCLAW|MOLTBOT|CLAWDBOT)_/i.test(name);
    if (host === "sandbox" ? isOurs : isRejectedVariable(name))
      throw refused(name, `env.${shown} cannot be set: it controls which code runs or where data goes (host=${host})`);
  }
}

/** Locale, terminal or time zone values that are paths, and values that old shells read as a function. */
export function isUnsafeValue(name: string, value: string): boolean {
  if (/^\(\)\s*\{/.test(value)) return true;
  if (name.toUpperCase() === "TZ") return /^[:/.]|\.\./.test(value);
  return lookedUpNames.test(name) && /[/\\]|\.\./.test(value);
}

/** Ignores case: some programs read both spellings, and some systems know only one. */
export function isRejectedVariable(name: string): boolean {
  if (!grammar.test(name)) return true;
  const upper = name.toUpperCase();
  if (rules().ordinary.has(upper)) return false;
  return rules().names.has(upper) || rules().shape.test(upper);
}

const grammar = /^[A-Za-z_][A-Za-z0-9_]*$/;

function refused(name: string, message: string): ToolError {
  return new ToolError("exec.rejected-variable", message, {
    hint: "remove it from env; the owner can set it for the gateway, or use tools.exec.pathPrepend for PATH",
    details: { refused: true, variable: visible(name, 100) },
  });
}

let compiled: { ordinary: ReadonlySet<string>; names: ReadonlySet<string>; shape: RegExp } | undefined;

function rules(): NonNullable<typeof compiled> {
  compiled ??= {
    ordinary: new Set(ordinaryNames),
    names: new Set(rejectedNames),
    shape: new RegExp(
      [`^(?:${rejectedPrefixes.join("|")})`, ...rejectedPatterns.map(({ source }) => `(?:${source})`)].join("|"),
    ),
  };
  return compiled;
}

const inherited = new Set(inheritedNames);

function isInherited(name: string): boolean {
  return inherited.has(name) || inheritedPrefixes.some((prefix) => name.startsWith(prefix));
}

/** A proxy URL can contain a password; such a value is not inherited. */
function hasPassword(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:[^/@\s]*@/i.test(value) || /^[^/@\s:]+:[^/@\s]+@[^/\s]+$/.test(value);
}
