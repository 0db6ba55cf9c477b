// Decides which config values are secrets: marked in the schema, or recognized by name or form.
import { isRecord } from "../core/record.ts";
import { looksSecret } from "../base/secret-names.ts";
import { type ConfigPath } from "./path.ts";
import { schemaRoot } from "./schema-root.ts";
import { childSchema, kindOf, takesKind, type SchemaNode } from "./schema-node.ts";

export interface SecretValue {
  readonly path: ConfigPath;
  readonly value: unknown;
}

/** Every secret of a value with the structure of the config, valid or not. */
export function findSecrets(root: unknown): SecretValue[] {
  const found: SecretValue[] = [];
  const walk = (value: unknown, place: SecretPlace, path: ConfigPath): void => {
    if (isSecret(value, place)) {
      found.push({ path, value });
      return;
    }
    const entries: [string | number, unknown][] = Array.isArray(value)
      ? [...value.entries()]
      : isRecord(value)
        ? Object.entries(value)
        : [];
    for (const [key, child] of entries) walk(child, placeBelow(place, value, key), [...path, key]);
  };
  walk(root, rootPlace, []);
  return found;
}

/** What is known about a path of the config. */
export interface SecretPlace {
  readonly node: SchemaNode | undefined;
  /** The key it is under, when the schema does not know that key. */
  readonly freeName: string | undefined;
}

export const rootPlace: SecretPlace = { node: schemaRoot, freeName: undefined };

export function placeBelow({ node, freeName }: SecretPlace, value: unknown, key: string | number): SecretPlace {
  const branch = node?.anyOf?.find((one) => takesKind(one, kindOf(value))) ?? node;
  if (typeof key === "number") return { node: branch?.items, freeName };
  const named = branch?.properties !== undefined && Object.hasOwn(branch.properties, key);
  return { node: branch === undefined ? undefined : childSchema(branch, key), freeName: named ? undefined : key };
}

/** Numbers and booleans under a free name are never secrets: `maxTokens` is not a token. */
export function isSecret(value: unknown, { node, freeName }: SecretPlace): boolean {
  if (value === undefined || value === null || value === "" || typeof value === "boolean") return false;
  if (node?.sensitive === true) return true;
  if (typeof value !== "string") return false;
  return (freeName !== undefined && looksSecret(freeName)) || carriesPassword(value);
}

/** A URL of the form scheme://user:password@host. */
function carriesPassword(value: string): boolean {
  return /^[a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@]*:[^/\s@]+@/i.test(value);
}
