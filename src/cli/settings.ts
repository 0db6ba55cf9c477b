// The config for commands: a quick read without the schema, or the whole config, which must be valid.
import { OpenClawError } from "../core/error.ts";
import type { Env } from "../base/paths.ts";
import { describeLegacy } from "../base/paths.ts";
import { describeIssue, type ConfigIssue } from "../config/issue.ts";
import type { LoadedConfig } from "../config/load.ts";
import { readParts } from "../config/parts.ts";
import { getAt, parsePath } from "../config/path.ts";
import type { Io } from "./io.ts";

export interface UncheckedConfig {
  readonly exists: boolean;
  readonly file: string;
  /** With the variables that `<state>/.env` and the config's `env` add. */
  readonly env: Env;
  /** Only errors that prevent parsing the file; keys are not checked. */
  readonly issues: readonly ConfigIssue[];
  text(path: string): string | undefined;
  number(path: string): number | undefined;
}

/** Never fails and loads no schema, for commands that must be fast or work with a broken config. */
export async function readUncheckedConfig(io: Io): Promise<UncheckedConfig> {
  const paths = io.paths();
  sayLegacy(io);
  const { exists, parsed, issues, env } = readParts({ paths, env: io.env });
  const at = (path: string): unknown => getAt(parsed, parsePath(path));
  return {
    exists,
    file: paths.config,
    env,
    issues,
    text(path) {
      const value = at(path);
      return typeof value === "string" && value.trim() !== "" ? value : undefined;
    },
    number(path) {
      const value = at(path);
      return typeof value === "number" && Number.isFinite(value) ? value : undefined;
    },
  };
}

/** The whole config, checked. Throws `config.invalid` with every issue and a hint. */
export async function requireConfig(io: Io): Promise<LoadedConfig> {
  const { loadConfig } = await import("../config/load.ts");
  sayLegacy(io);
  const loaded = loadConfig({ paths: io.paths(), env: io.env });
  if (loaded.valid) return loaded;
  throw invalidConfig(loaded.issues, io);
}

/** For commands that connect to a gateway: with --url our own config does not matter. */
export async function requireConfigUnless(isElsewhere: boolean, io: Io): Promise<void> {
  if (!isElsewhere) await requireConfig(io);
}

export function invalidConfig(issues: readonly ConfigIssue[], io: Io): OpenClawError {
  const shown = issues.slice(0, 12).map((issue) => `  ${describe(issue, io)}`);
  const more = issues.length > shown.length ? [`  … and ${issues.length - shown.length} more`] : [];
  return new OpenClawError("config.invalid", [`the config is not valid:`, ...shown, ...more].join("\n"), {
    hint: "fix the lines above (openclaw config set or unset) or run openclaw doctor --fix, then check with: openclaw config validate",
    details: { issues },
  });
}

export const describe = (issue: ConfigIssue, io: Io): string => describeIssue(issue, io.paths().home);

const noticed = new WeakSet<Io>();

/** Prints one line, once, when an older installation is read (docs/decisions/0002-older-names-keep-working.md). */
export function sayLegacy(io: Io): void {
  const notice = describeLegacy(io.paths());
  if (notice === undefined || noticed.has(io)) return;
  noticed.add(io);
  io.say(notice);
}
