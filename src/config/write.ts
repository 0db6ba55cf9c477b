// Writes the config: only over the version that was read, only when valid, atomically, with history.
import { existsSync, lstatSync, realpathSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { sha256 } from "../base/ids.ts";
import { unifiedDiff } from "../base/line-diff.ts";
import { acquireLock, type Lock } from "../base/lock.ts";
import type { Env, Paths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { describeIssue, type ConfigIssue } from "./issue.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import { readMain } from "./parts.ts";
import { redacted, redactRaw } from "./redact.ts";
import { readBytes } from "./source.ts";

export { mergePatch, overlayText, patchText } from "./patch.ts";

export interface WriteOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly nextText: string;
  /** Hash of the version that the text is based on. */
  readonly baseHash?: string;
  /** The owner explicitly asked to change an older installation. */
  readonly allowLegacy?: boolean;
  /** Channels of plugins. */
  readonly channels?: readonly string[];
  /** Repairs a broken file step by step: an invalid text is written when it adds no new issue. */
  readonly stepwise?: boolean;
  /** Runs all checks of a write, without writing. */
  readonly check?: boolean;
}

export interface WrittenConfig {
  /** False when the file already has this text. */
  readonly changed: boolean;
  readonly loaded: LoadedConfig;
}

/**
 * Throws `config.legacy`, `config.conflict` (details: the diff), `config.redacted` or `config.invalid` (details: the
 * issues) and keeps the old file byte for byte. When it returns, the new one survives a power failure.
 */
export function writeConfig(options: WriteOptions): WrittenConfig {
  const { paths, env, nextText, baseHash, channels = [] } = options;
  if (options.allowLegacy !== true) refuseLegacy(paths);
  const lock = lockFor(paths);
  try {
    const { exists, bytes } = readMain(paths.config);
    const currentText = bytes.toString("utf8");
    if (baseHash !== undefined && baseHash !== sha256(bytes)) throw conflict(paths, baseHash, currentText, nextText);
    if (nextText.includes(redacted)) throw savedMarker();
    const loaded = loadConfig({ paths, env, text: nextText, channels });
    if (exists && Buffer.from(nextText, "utf8").equals(bytes)) return { changed: false, loaded };
    const added = options.stepwise === true ? addedIssues(loaded, options) : loaded.issues;
    if (!loaded.valid && added.length > 0) throw invalid(added);
    if (options.check === true) return { changed: true, loaded };
    if (exists) keepVersion(paths.config, bytes);
    writeFileAtomic(realTarget(paths.config), nextText, 0o600);
    return { changed: true, loaded };
  } finally {
    lock.release();
  }
}

/** The earlier versions, newest first. */
export function historyOf(paths: Paths): string[] {
  return versionNames(paths.config).filter((file) => existsSync(file));
}

const versions = 5;
const lockPatienceMs = 3000;

function versionNames(config: string): string[] {
  return Array.from({ length: versions }, (_, age) => (age === 0 ? `${config}.bak` : `${config}.bak.${age}`));
}

/** Oldest first, so that a crash at any point leaves a gap and never loses the newest version. */
function keepVersion(config: string, bytes: Buffer): void {
  const names = versionNames(config);
  for (let age = versions - 1; age > 0; age -= 1) {
    const [from, to] = [names[age - 1] ?? "", names[age] ?? ""];
    if (existsSync(from)) renameSync(from, to);
  }
  writeFileAtomic(`${config}.bak`, bytes, 0o600);
}

/** A config that is a link stays one: its target is written. */
function realTarget(config: string): string {
  const isLink = lstatSync(config, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && existsSync(config) ? realpathSync(config) : config;
}

function refuseLegacy(paths: Paths): void {
  if (paths.product === "openclaw" && basename(paths.config) !== "moltbot.json") return;
  throw new OpenClawError("config.legacy", `${paths.config} belongs to an older installation and is never changed`, {
    hint: `copy it to ~/.openclaw/openclaw.json and change the copy`,
  });
}

/** One writer at a time; a dead one does not block the others. */
function lockFor({ config }: Paths): Lock {
  const file = join(dirname(config), `.${basename(config)}.lock`);
  for (let waitedMs = 0; ; waitedMs += 25) {
    try {
      return acquireLock(file);
    } catch (error) {
      const isHeld = error instanceof OpenClawError && error.code === "lock.held";
      if (!isHeld) throw error;
      if (waitedMs >= lockPatienceMs) {
        throw new OpenClawError("config.busy", `another process has been writing ${config} for ${lockPatienceMs} ms`, {
          cause: error,
          hint: "try again",
        });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  }
}

function conflict(paths: Paths, baseHash: string, current: string, next: string): OpenClawError {
  const base = historyOf(paths)
    .map((file) => readBytes(file, { follow: true, single: false }))
    .find((bytes) => sha256(bytes) === baseHash);
  const before = base?.toString("utf8") ?? next;
  const diff = unifiedDiff(redactRaw(before), redactRaw(current), { name: basename(paths.config), maxChars: 4000 });
  return new OpenClawError("config.conflict", `${paths.config} has changed since it was read`, {
    hint: "read it again with config.get (openclaw config get), then repeat the change",
    details: {
      currentHash: sha256(current),
      baseHash,
      diff,
      diffOf: base === undefined ? "your text against the file" : "what changed since",
    },
  });
}

function addedIssues({ issues }: LoadedConfig, { paths, env, channels = [] }: WriteOptions): readonly ConfigIssue[] {
  const nameOf = ({ path, message }: ConfigIssue): string => `${path}: ${message}`;
  const known = new Set(loadConfig({ paths, env, channels }).issues.map(nameOf));
  return issues.filter((issue) => !known.has(nameOf(issue)));
}

/** Without lines and columns, which belong to a text that is not in the file. */
function invalid(issues: readonly ConfigIssue[]): OpenClawError {
  const shown = issues
    .slice(0, 8)
    .map(({ file: _file, line: _line, column: _column, ...issue }) => `  ${describeIssue(issue)}`);
  const more = issues.length > shown.length ? [`  … and ${issues.length - shown.length} more`] : [];
  const message = ["nothing was written, because the config would be invalid:", ...shown, ...more].join("\n");
  return new OpenClawError("config.invalid", message, {
    hint: "openclaw config schema shows the values of each key",
    details: { issues },
  });
}

function savedMarker(): OpenClawError {
  return new OpenClawError("config.redacted", `the text contains ${redacted} in place of a secret`, {
    hint: "write the secret itself, or leave the key out",
  });
}
