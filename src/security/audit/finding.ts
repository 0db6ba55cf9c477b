// The input and the findings of the audit. A finding has a weight, a location, a reason and the command that fixes it.
import type { Env, Paths } from "../../base/paths.ts";
import { formatPath, type ConfigPath } from "../../config/path.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { OpenClawError } from "../../core/error.ts";
import type { ApprovalsSnapshot } from "../../exec/policy/file.ts";
import type { Unguarded } from "../../exec/guard/probe.ts";

/** critical: others can act as you now. high: one step away. medium: a protection is missing. low: minor. info: worth knowing. */
export const weights = ["critical", "high", "medium", "low", "info"] as const;
export type Weight = (typeof weights)[number];

export interface Finding {
  /** `area.reason`; its meaning never changes. */
  readonly id: string;
  readonly weight: Weight;
  readonly what: string;
  readonly why: string;
  readonly where: Location;
  /** A command that can be typed as it is. */
  readonly fix: string;
  /** What `--fix` does: changes file modes only. */
  readonly repair?: Repair;
}

export interface Repair {
  readonly does: string;
  apply(): void;
}

/** A config key with its line, a file, or neither for the machine itself. */
export interface Location {
  readonly path?: string;
  readonly file?: string;
  readonly line?: number;
}

/** Everything that the checks use. Facts about the machine are passed in, so that tests can change them. */
export interface AuditContext {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  readonly approvals: ApprovalsSnapshot | OpenClawError;
  readonly machine: Machine;
  /** True to check every file below the state folder, not only the known ones. */
  readonly deep: boolean;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Undefined on systems without user ids. */
  readonly userId: number | undefined;
  readonly nodeVersion: string;
  /** Sockets of container engines that this user can write to. */
  readonly engineSockets: readonly string[];
  /** Agents with an allowlist from whose commands the gateway's own files cannot be hidden here. */
  unguarded(): Promise<Unguarded | undefined>;
  /** Whether a sandbox of the configured kind starts here, and how to fix it. */
  sandboxWorks(): Promise<{ readonly works: boolean; readonly reason?: string; readonly fix?: string }>;
}

export type Check = (context: AuditContext) => readonly Finding[] | Promise<readonly Finding[]>;

/** A config key, with file and line when it is set there. */
export function at({ loaded }: Pick<AuditContext, "loaded">, path: ConfigPath | string): Location {
  const written = typeof path === "string" ? path : formatPath(path);
  const place = loaded.locate(written);
  return { path: written, ...(place === undefined ? {} : { file: place.file, line: place.line }) };
}

export function setKey(path: ConfigPath | string, value: string): string {
  return `openclaw config set ${quoted(typeof path === "string" ? path : formatPath(path))} ${value}`;
}

export function unsetKey(path: ConfigPath | string): string {
  return `openclaw config unset ${quoted(typeof path === "string" ? path : formatPath(path))}`;
}

/** The rest of a list as a shell argument. */
export function listWithout(list: readonly unknown[], isOut: (one: unknown) => boolean): string {
  return `'${JSON.stringify(list.filter((one) => !isOut(one))).replaceAll("'", "'\\''")}'`;
}

function quoted(path: string): string {
  return /^[\w.-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
