// Finds files and folders of the gateway that a config places outside the state folder, by marks in the schema.
import { dirname } from "node:path";

import { isRecord } from "../core/record.ts";
import { expandHome } from "../base/paths.ts";
import type { Config } from "./schema/index.ts";
import { placeBelow, rootPlace, type SecretPlace } from "./secrets.ts";

export interface GatewayFiles {
  /** Secrets, logs and other agents' state. */
  readonly hidden: readonly string[];
  /** Code, pages and instructions that the gateway loads. */
  readonly kept: readonly string[];
}

/** Needed for every command, so a config is scanned once. */
const known = new WeakMap<Config, GatewayFiles>();

export function gatewayFiles(config: Config, home: string): GatewayFiles {
  const places = known.get(config) ?? find(config, home);
  known.set(config, places);
  return places;
}

function find(config: Config, home: string): GatewayFiles {
  const found = { hidden: [] as string[], kept: [] as string[] };
  const walk = (value: unknown, at: SecretPlace, above?: "hidden" | "kept"): void => {
    const kind = at.node?.place ?? above;
    if (typeof value === "string" && kind !== undefined) found[kind].push(...pathIn(value, home));
    if (Array.isArray(value)) value.forEach((one, index) => walk(one, placeBelow(at, value, index), kind));
    else if (isRecord(value)) for (const [key, one] of Object.entries(value)) walk(one, placeBelow(at, value, key));
  };
  walk(config, rootPlace);
  return found;
}

/** A name with `{agentId}` means several files, so their folder is returned. */
function pathIn(text: string, home: string): string[] {
  if (text.trim() === "") return [];
  const path = expandHome(text, home);
  const open = path.indexOf("{");
  return [open === -1 ? path : dirname(`${path.slice(0, open)}x`)];
}
