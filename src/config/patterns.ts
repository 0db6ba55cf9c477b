// Compiles patterns of the config, and rejects those that can take exponential time.
import { OpenClawError } from "../core/error.ts";
import { canExplode } from "./pattern-blowup.ts";
import type { Config } from "./schema/index.ts";

const maxLength = 1000;

/**
 * `re` (case-insensitive, all matches) or `/re/flags`. Throws `config.bad-pattern` for a pattern that does not compile
 * and for nested or overlapping repetition such as `(a+)+$`. An accepted pattern can still take quadratic time: match
 * bounded texts.
 */
export function compilePattern(written: string): RegExp {
  const slashed = /^\/(.+)\/([a-z]*)$/su.exec(written);
  const source = slashed?.[1] ?? written;
  const flags = slashed?.[2] ?? "gi";
  if (written.length > maxLength) throw badPattern(written, `it is longer than ${maxLength} characters`);
  if (!/^[gimsuy]*$/.test(flags))
    throw badPattern(written, `its flags ${JSON.stringify(flags)} are not among g, i, m, s, u, y`);
  const compiled = compile(source, flags, written);
  if (canExplode(source, flags)) {
    throw badPattern(
      written,
      "it repeats something that itself repeats or overlaps, so one long line could block the gateway",
    );
  }
  return compiled;
}

/** `logging.redactPatterns` of a valid config, compiled; undefined while the built-in patterns apply. */
export function redactionPatterns(config: Config): RegExp[] | undefined {
  return config.logging?.redactPatterns?.map(compilePattern);
}

function compile(source: string, flags: string, written: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    throw badPattern(written, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function badPattern(written: string, why: string, cause?: unknown): OpenClawError {
  return new OpenClawError(
    "config.bad-pattern",
    `not a usable pattern: ${JSON.stringify(written.slice(0, 80))}: ${why}`,
    {
      hint: "write the repetition once, for example a+ instead of (a+)+",
      cause,
    },
  );
}
