// Resolves a model name given by an agent: an alias, `provider/model` or a bare id among the usable models.
import { ToolError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { visible } from "../core/visible.ts";
import type { Config } from "../config/schema/index.ts";
import { aliasesOf, isModelAllowed, nameOf, parseModelRef } from "./catalog.ts";
import type { ModelRef } from "./model.ts";

export interface ListedModel extends ModelRef {
  /** A credential exists. */
  readonly ready?: boolean;
}

/** Throws `model.unknown`, `model.ambiguous` or `model.not-allowed`, each with the names that are possible. */
export function pickListedModel(written: string, config: Config, listed: readonly ListedModel[]): ModelRef {
  const usable = listed.filter((row) => isModelAllowed(config, row));
  const name = written.trim();
  const isBare = !name.includes("/") && !aliasesOf(config).has(name.toLowerCase());
  const found = isBare ? byId(name, usable) : byReference(name, config, usable);
  if (found !== undefined) return found;
  const ref = isBare ? undefined : parseModelRef(name, config);
  if (ref !== undefined && !isModelAllowed(config, ref))
    throw refusal(
      "model.not-allowed",
      `model ${quoted(name)} is not allowed here (agents.defaults.models)`,
      name,
      usable,
    );
  throw refusal("model.unknown", `there is no model ${quoted(name)}`, name, usable);
}

function byReference(name: string, config: Config, usable: readonly ListedModel[]): ModelRef | undefined {
  const ref = parseModelRef(name, config);
  if (ref === undefined) return undefined;
  return usable.some((row) => nameOf(row).toLowerCase() === nameOf(ref).toLowerCase()) ? ref : undefined;
}

function byId(id: string, usable: readonly ListedModel[]): ModelRef | undefined {
  const matching = usable.filter((row) => row.id.toLowerCase() === id.toLowerCase());
  const ready = matching.filter((row) => row.ready === true);
  const [only, ...more] = ready.length > 0 ? ready : matching;
  if (only === undefined || more.length === 0) return only && { provider: only.provider, id: only.id };
  throw new ToolError("model.ambiguous", `several providers have a model ${quoted(id)}`, {
    hint: `name one: ${matching.map(nameOf).join(", ")}`,
  });
}

const MAX_NAMES = 20;

function refusal(code: string, message: string, name: string, usable: readonly ListedModel[]): ToolError {
  const ready = usable.filter((row) => row.ready === true);
  const names = (ready.length > 0 ? ready : usable).map(nameOf);
  const near = nearest(name, names);
  const known = names.length === 0 ? "none is configured" : `known: ${names.slice(0, MAX_NAMES).join(", ")}`;
  return new ToolError(code, message, { hint: near === undefined ? known : `did you mean ${near}? ${known}` });
}

const quoted = (name: string): string => `"${visible(name, 100)}"`;
