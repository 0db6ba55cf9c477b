// Suggests the nearest known config key for an unknown path.
import { nearest } from "../core/nearest.ts";
import { formatPath, parsePath, type ConfigPath } from "./path.ts";
import { schemaAt, type SchemaNode } from "./schema-node.ts";
import { schemaRoot } from "./schema-root.ts";

export type NearestKey = { readonly kind: "exact" | "none" } | { readonly kind: "near"; readonly path: string };

export function nearestKey(written: string): NearestKey {
  const path = parsePath(written);
  if (schemaAt(schemaRoot, path) !== undefined) return { kind: "exact" };
  // Corrects only the first wrong segment: the following ones may be right.
  const wrong = path.findIndex((_, at) => schemaAt(schemaRoot, path.slice(0, at + 1)) === undefined);
  const parent = schemaAt(schemaRoot, path.slice(0, wrong));
  const step = path[wrong];
  if (parent === undefined || typeof step !== "string") return { kind: "none" };
  const near = nearest(step, keysOf(parent));
  if (near === undefined) return { kind: "none" };
  const corrected: ConfigPath = [...path.slice(0, wrong), near, ...path.slice(wrong + 1)];
  const known = schemaAt(schemaRoot, corrected) === undefined ? corrected.slice(0, wrong + 1) : corrected;
  return { kind: "near", path: formatPath(known) };
}

function keysOf({ properties = {}, anyOf = [] }: SchemaNode): string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(keysOf)];
}
