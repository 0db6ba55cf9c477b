// Replaces `${VAR}` in config texts, once; `$${VAR}` writes the literal text.
import { isRecord } from "../core/record.ts";
import type { Env } from "../base/paths.ts";
import { type ConfigPath } from "./path.ts";

export interface MissingVariable {
  readonly path: ConfigPath;
  readonly name: string;
}

export interface Substitution {
  readonly value: unknown;
  readonly missing: readonly MissingVariable[];
}

/** An unset or empty variable is kept as written and listed. */
export function substitute(root: unknown, env: Env): Substitution {
  const missing: MissingVariable[] = [];
  const walk = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === "string") return replaceIn(value, path);
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child, [...path, key])]));
  };
  const replaceIn = (text: string, path: ConfigPath): string =>
    text.replaceAll(variable, (written, escape: string, name: string) => {
      if (escape !== "") return written.slice(1);
      const found = Object.hasOwn(env, name) ? env[name] : undefined;
      if (found !== undefined && found !== "") return found;
      missing.push({ path, name });
      return written;
    });
  return { value: walk(root, []), missing };
}

/** Whether a text is only a reference, and so contains no secret. */
export function isReference(text: string): boolean {
  return /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(text);
}

const variable = /\$(\$?)\{([A-Z_][A-Z0-9_]*)\}/g;
