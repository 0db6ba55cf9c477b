// The hooks of this machine for commands; asks no gateway and loads no script.
import { OpenClawError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import type { LoadedConfig } from "../config/load.ts";
import { bundledCards } from "../plugin/hook/bundled/cards.ts";
import { discoverHooks, findHooks } from "../plugin/hook/discover.ts";
import type { HookRow } from "../plugin/hook/hook.ts";
import type { Io } from "./io.ts";

export function hooksHere(io: Io, { config }: LoadedConfig): readonly HookRow[] {
  return discoverHooks({ config, paths: io.paths(), env: io.env, bundled: bundledCards });
}

/** Also hooks that another one of the same name overrides. */
export function allHooksHere(io: Io, { config }: LoadedConfig): readonly HookRow[] {
  return findHooks({ config, paths: io.paths(), env: io.env, bundled: bundledCards });
}

export function requireHook(rows: readonly HookRow[], name: string): HookRow {
  const found = rows.find((row) => row.name === name);
  if (found !== undefined) return found;
  const names = rows.map((row) => row.name);
  const near = nearest(name, names);
  throw new OpenClawError("hook.unknown", `there is no hook ${JSON.stringify(name)}; known: ${names.join(", ")}`, {
    hint: near === undefined ? "openclaw hooks list" : `did you mean ${near}?`,
  });
}

/** True when no requirement is missing and there is no problem, enabled or not. */
export const isEligible = ({ missing, problem }: HookRow): boolean => missing.length === 0 && problem === undefined;

export function stateText(row: HookRow): string {
  if (row.problem !== undefined) return row.enabled ? "enabled, broken" : "broken";
  if (row.missing.length > 0) return row.enabled ? "enabled, requirements missing" : "requirements missing";
  return row.enabled ? "running" : "disabled";
}

/** For programs. */
export function hookJson(row: HookRow): unknown {
  const { requires, always, exportName, ...rest } = row;
  return {
    ...rest,
    eligible: isEligible(row),
    always,
    requires,
    ...(exportName === undefined ? {} : { export: exportName }),
  };
}
