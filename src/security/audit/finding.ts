// The input and the findings of the audit. A finding has a weight, a place, a reason and the command that fixes it.
import type { Env, Paths } from "../../base/paths.ts";
import { formatPath, type ConfigPath } from "../../config/path.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { OpenClawError } from "../../core/error.ts";
import type { ApprovalsSnapshot } from "../../exec/policy/file.ts";
import type { Unguarded } from "../../exec/guard/probe.ts";

/** critical: somebody else can act as you now. high: one step away. medium: a guard is missing. low: tidiness. info: to know. */
export const weights = ["critical", "high", "medium", "low", "info"] as const;
export type Weight = (typeof weights)[number];

export interface Finding {
  /** `area.reason`; never changes its meaning. */
  readonly id: string;
  readonly weight: Weight;
  readonly what: string;
  readonly why: string;
  readonly where: Place;
  /** A command to type, as it is. */
  readonly fix: string;
  /** What `--fix` does about it: only rights of files. */
  readonly repair?: Repair;
}

export interface Repair {
  readonly does: string;
  apply(): void;
}

/** A key of the config with the line it is written on, or a file, or the machine itself (none of them). */
export interface Place {
  readonly path?: string;
  readonly file?: string;
  readonly line?: number;
}

/** Everything the checks may know. Facts of the machine come from outside, so that a check can be shown a bad one. */
export interface Ground {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  readonly approvals: ApprovalsSnapshot | OpenClawError;
  readonly machine: Machine;
  /** Every file below the state folder, not only the known ones. */
  readonly deep: boolean;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Undefined where users have no numbers. */
  readonly userId: number | undefined;
  readonly nodeVersion: string;
  /** Paths of container engines' sockets this user may write to. */
  readonly engineSockets: readonly string[];
  /** Agents with an allowlist whose commands cannot be kept from the gateway's own files here. */
  unguarded(): Promise<Unguarded | undefined>;
  /** Whether a sandbox of the configured kind starts here, and what to do when not. */
  sandboxWorks(): Promise<{ readonly works: boolean; readonly reason?: string; readonly fix?: string }>;
}

export type Check = (ground: Ground) => readonly Finding[] | Promise<readonly Finding[]>;

/** A place in the config, with file and line when it is written there. */
export function at({ loaded }: Pick<Ground, "loaded">, path: ConfigPath | string): Place {
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

/** A list as an argument: what stays of it. */
export function listWithout(list: readonly unknown[], isOut: (one: unknown) => boolean): string {
  return `'${JSON.stringify(list.filter((one) => !isOut(one))).replaceAll("'", "'\\''")}'`;
}

function quoted(path: string): string {
  return /^[\w.-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
