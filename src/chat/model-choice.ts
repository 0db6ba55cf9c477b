// The models that a person may choose, by number, alias or name.
import { nearest } from "../core/nearest.ts";
import type { ModelRef } from "../model/model.ts";
import { refText, type CommandRun } from "./command-run.ts";

export interface Choice extends ModelRef {
  readonly alias?: string;
  /** The provider has a credential. */
  readonly ready: boolean;
}

export type Picked = { readonly ref: Choice } | { readonly refusal: string };

/** In numbered order: the allowlist and the defaults, or all models that have a credential. */
export async function modelChoices(commandRun: CommandRun): Promise<readonly Choice[]> {
  const listed = allowedModels(commandRun);
  const all = await commandRun.deps.models.list();
  const defaults = await commandRun.deps.models.candidates({ agentId: commandRun.context.agentId });
  const others = listed.length > 0 ? [] : all.filter(({ ready }) => ready);
  const chosen: (ModelRef & { readonly alias?: string })[] = [];
  for (const ref of [...listed, ...defaults, ...others]) {
    if (!chosen.some((known) => same(known, ref))) chosen.push(ref);
  }
  return chosen.map(({ provider, id, alias }) => ({
    provider,
    id,
    ...(alias === undefined ? {} : { alias }),
    ready: all.some((row) => same(row, { provider, id }) && row.ready),
  }));
}

export async function pickModel(name: string, commandRun: CommandRun): Promise<Picked> {
  const choices = await modelChoices(commandRun);
  if (/^\d{1,6}$/.test(name)) return byNumber(Number(name), choices);
  const named = choices.find(({ alias }) => alias?.toLowerCase() === name.toLowerCase());
  if (named !== undefined) return { ref: named };
  const exact = choices.find((choice) => refText(choice).toLowerCase() === name.toLowerCase());
  if (exact !== undefined) return { ref: exact };
  if (name.includes("@") && !name.startsWith("@")) {
    return { refusal: "A credential cannot be chosen with @ yet. Give only the model name." };
  }
  return name.includes("/") ? byReference(name, choices, commandRun) : byName(name, choices);
}

/** For `/new <word>`: accepts only a certain match, so that ordinary words stay text. */
export async function knownModel(word: string, alone: boolean, commandRun: CommandRun): Promise<Choice | undefined> {
  const name = word.toLowerCase();
  const choices = await modelChoices(commandRun);
  return (
    choices.find(({ alias }) => alias?.toLowerCase() === name) ??
    choices.find((choice) => refText(choice).toLowerCase() === name) ??
    choices.find(({ id }) => id.toLowerCase() === name) ??
    (alone ? choices.find(({ provider }) => provider.toLowerCase() === name) : undefined)
  );
}

function byNumber(number: number, choices: readonly Choice[]): Picked {
  const ref = choices[number - 1];
  if (ref !== undefined) return { ref };
  if (choices.length === 0)
    return { refusal: "There is no model to choose from. Add one: openclaw configure --section model" };
  return { refusal: `There is no model number ${number}. /model lists 1 to ${choices.length}.` };
}

async function byReference(name: string, choices: readonly Choice[], commandRun: CommandRun): Promise<Picked> {
  if (allowedModels(commandRun).length > 0) return { refusal: notAllowed(name) };
  const slash = name.indexOf("/");
  const [provider, id] = [name.slice(0, slash).toLowerCase(), name.slice(slash + 1)];
  const all = await commandRun.deps.models.list();
  const known = all.find((row) => refText(row).toLowerCase() === name.toLowerCase());
  if (known !== undefined) return { ref: { provider: known.provider, id: known.id, ready: known.ready } };
  const providers = new Set([
    ...[...all, ...choices].map((row) => row.provider),
    ...Object.keys(commandRun.config.models?.providers ?? {}),
  ]);
  if (provider !== "" && id !== "" && providers.has(provider)) {
    return { ref: { provider, id, ready: all.some((row) => row.provider === provider && row.ready) } };
  }
  return { refusal: noModel(name, [...all, ...choices].map(refText)) };
}

function byName(name: string, choices: readonly Choice[]): Picked {
  const matching = choices.filter(({ id }) => id.toLowerCase() === name.toLowerCase());
  const [only, ...more] = matching;
  if (only !== undefined && more.length === 0) return { ref: only };
  if (only !== undefined) return { refusal: `Several are called ${name}: ${matching.map(refText).join(", ")}.` };
  return {
    refusal: noModel(
      name,
      choices.flatMap((choice) => [refText(choice), choice.id, choice.alias ?? choice.id]),
    ),
  };
}

function noModel(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `No model is called "${name.slice(0, 80)}".${near === undefined ? "" : ` Did you mean ${near}?`} Use /model to list available models.`;
}

/** Clients recognize this text. */
function notAllowed(ref: string): string {
  return `Model "${ref}" is not allowed. Use /model to list available models.`;
}

function allowedModels({ config }: CommandRun): (ModelRef & { readonly alias?: string })[] {
  return Object.entries(config.agents?.defaults?.models ?? {}).flatMap(([key, { alias }]) => {
    const slash = key.indexOf("/");
    if (slash <= 0) return [];
    return [{ provider: key.slice(0, slash), id: key.slice(slash + 1), ...(alias === undefined ? {} : { alias }) }];
  });
}

export function same(one: ModelRef, other: ModelRef): boolean {
  return one.provider === other.provider && one.id === other.id;
}
