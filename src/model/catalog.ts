// Lists all models that can be named: configured, well known, and found on this machine.
import type { Config } from "../config/schema/index.ts";
import { assumedFacts, knownModels } from "./known-models.ts";
import type { ModelFacts, ModelRef } from "./model.ts";
import { knownProviders, usualAliases } from "./providers.ts";

type ConfiguredProvider = NonNullable<NonNullable<NonNullable<Config["models"]>["providers"]>[string]>;
type ConfiguredModel = NonNullable<ConfiguredProvider["models"]>[number];

export interface Place {
  readonly api: string;
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** From the config; auth profiles come before it. */
  readonly apiKey: string | undefined;
  readonly envKeys: readonly string[];
  readonly asBearer: boolean;
  readonly needsKey: boolean;
}

export interface FoundServer {
  readonly provider: string;
  readonly baseUrl: string;
  readonly models: readonly { readonly id: string; readonly contextWindow?: number }[];
}

const fallbackProvider = "anthropic";

/**
 * A name as people write it: an alias, `provider/model`, or a bare model id that one provider has (else the default
 * provider's); `@profile` pins a credential.
 */
export function parseModelRef(text: string, config: Config): ModelRef | undefined {
  const [name, profile] = splitProfile(text.trim());
  if (name === "") return undefined;
  const full = aliasesOf(config).get(name.toLowerCase()) ?? name;
  const slash = full.indexOf("/");
  const provider = slash < 0 ? onlyProviderOf(full, config) : full.slice(0, slash).trim().toLowerCase();
  const id = full.slice(slash + 1).trim();
  if (provider === "" || id === "") return undefined;
  return { provider, id: withServiceCase(provider, id, config), ...(profile === undefined ? {} : { profile }) };
}

/** Configured providers win over well-known ones that have a model of the same name. */
function onlyProviderOf(id: string, config: Config): string {
  const isNamed = (name: string): boolean => name.toLowerCase() === id.toLowerCase();
  const configured = Object.entries(config.models?.providers ?? {}).flatMap(([provider, entry]) =>
    (entry?.models ?? []).some((model) => isNamed(model.id)) ? [provider] : [],
  );
  const known = Object.entries(knownModels).flatMap(([provider, models]) =>
    Object.keys(models).some(isNamed) ? [provider] : [],
  );
  const [only, ...more] = configured.length > 0 ? configured : known;
  return only !== undefined && more.length === 0 ? only : fallbackProvider;
}

/** Maps aliases in lower case to models; configured aliases win over the built-in ones. */
export function aliasesOf(config: Config): ReadonlyMap<string, string> {
  const listed = config.agents?.defaults?.models ?? {};
  const names = new Set(Object.keys(listed).map((name) => name.toLowerCase()));
  const usual = Object.entries(usualAliases).filter(([, name]) => names.has(name));
  const own = Object.entries(listed).flatMap(([name, entry]) =>
    entry?.alias === undefined || entry.alias === "" ? [] : [[entry.alias.toLowerCase(), name] as const],
  );
  return new Map([...usual, ...own]);
}

/** With `agents.defaults.models` set, only those models and the configured defaults can be selected. */
export function isModelAllowed(config: Config, ref: ModelRef): boolean {
  const listed = Object.keys(config.agents?.defaults?.models ?? {});
  if (listed.length === 0) return true;
  const chosen = [config.agents?.defaults?.model, ...(config.agents?.list ?? []).map(({ model }) => model)];
  const allowed = [...listed, ...chosen.flatMap((choice) => namesIn(choice))];
  return allowed.some((name) => {
    const other = parseModelRef(name, config);
    return other !== undefined && nameOf(other).toLowerCase() === nameOf(ref).toLowerCase();
  });
}

export type ModelChoice = string | { readonly primary?: string; readonly fallbacks?: readonly string[] } | undefined;

/** Primary, then fallbacks, in the configured order. */
export function namesIn(choice: ModelChoice): string[] {
  if (choice === undefined) return [];
  if (typeof choice === "string") return [choice];
  return [...(choice.primary === undefined ? [] : [choice.primary]), ...(choice.fallbacks ?? [])];
}

export const nameOf = ({ provider, id }: ModelRef): string => `${provider}/${id}`;

export function placeOf(config: Config, ref: ModelRef, found: readonly FoundServer[]): Place | undefined {
  const configured = config.models?.providers?.[ref.provider];
  const known =
    config.models?.mode === "replace" && configured === undefined ? undefined : knownProviders[ref.provider];
  const server = found.find(({ provider }) => provider === ref.provider);
  if (configured === undefined && known === undefined && server === undefined) return undefined;
  const model = configuredModel(configured, ref.id);
  const baseUrl = ref.baseUrl ?? configured?.baseUrl ?? server?.baseUrl ?? known?.baseUrl;
  return {
    api: model?.api ?? configured?.api ?? known?.api ?? "openai-completions",
    baseUrl,
    headers: { ...configured?.headers, ...model?.headers, ...ref.headers },
    apiKey: configured?.apiKey === "" ? undefined : configured?.apiKey,
    envKeys: known?.envKeys ?? [`${ref.provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`],
    asBearer: configured?.authHeader === true || configured?.auth === "token" || configured?.auth === "oauth",
    needsKey: known?.isLocal !== true && server === undefined && !isLoopback(baseUrl),
  };
}

export function factsOf(config: Config, ref: ModelRef, found: readonly FoundServer[]): ModelFacts {
  const model = configuredModel(config.models?.providers?.[ref.provider], ref.id);
  const known = knownModels[ref.provider]?.[ref.id];
  if (model !== undefined) return configuredFacts(model, known ?? assumedFacts(ref.provider, ref.id));
  const seen = found.find(({ provider }) => provider === ref.provider)?.models.find(({ id }) => id === ref.id);
  return known ?? assumedFacts(ref.provider, ref.id, seen?.contextWindow);
}

/** All models, configured ones first, each once. */
export function allModels(
  config: Config,
  found: readonly FoundServer[],
): readonly (ModelRef & { readonly source: "config" | "built-in" | "found" })[] {
  const configured = Object.entries(config.models?.providers ?? {}).flatMap(([provider, entry]) =>
    (entry?.models ?? []).map(({ id }) => ({ provider, id, source: "config" as const })),
  );
  const defaults = config.agents?.defaults;
  const chosen = [...namesIn(defaults?.model), ...namesIn(defaults?.imageModel), ...Object.keys(defaults?.models ?? {})]
    .flatMap((name) => parseModelRef(name, config) ?? [])
    .map(({ provider, id }) => ({ provider, id, source: "config" as const }));
  const builtIn = Object.entries(config.models?.mode === "replace" ? {} : knownModels).flatMap(([provider, models]) =>
    Object.keys(models).map((id) => ({ provider, id, source: "built-in" as const })),
  );
  const local = found.flatMap(({ provider, models }) =>
    models.map(({ id }) => ({ provider, id, source: "found" as const })),
  );
  const all = [...configured, ...chosen, ...local, ...builtIn];
  // In reverse order, so that the first entry of a model wins.
  const first = new Map(all.toReversed().map((entry) => [nameOf(entry), entry]));
  return all.filter((entry) => first.get(nameOf(entry)) === entry);
}

function splitProfile(text: string): [string, string | undefined] {
  const at = text.lastIndexOf("@");
  // An @ before the last slash belongs to the model's own name, as in some hosted catalogs.
  if (at <= 0 || at < text.lastIndexOf("/")) return [text, undefined];
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Accepts any letter case and returns the service's own spelling. */
function withServiceCase(provider: string, id: string, config: Config): string {
  const names = [
    ...(config.models?.providers?.[provider]?.models ?? []).map((model) => model.id),
    ...Object.keys(knownModels[provider] ?? {}),
  ];
  if (names.includes(id)) return id;
  return names.find((name) => name.toLowerCase() === id.toLowerCase()) ?? id;
}

function configuredModel(provider: ConfiguredProvider | undefined, id: string): ConfiguredModel | undefined {
  return provider?.models?.find((model) => model.id === id);
}

/** Values of the entry win over assumptions; the loader already filled in its defaults. */
function configuredFacts(model: ConfiguredModel, assumed: ModelFacts): ModelFacts {
  const contextWindow = model.contextWindow ?? assumed.contextWindow;
  return {
    name: model.name ?? assumed.name,
    contextWindow,
    maxTokens: Math.min(model.maxTokens ?? assumed.maxTokens, contextWindow),
    reasoning: model.reasoning ?? assumed.reasoning,
    input: model.input ?? assumed.input,
    cost: {
      input: model.cost?.input ?? assumed.cost.input,
      output: model.cost?.output ?? assumed.cost.output,
      cacheRead: model.cost?.cacheRead ?? assumed.cost.cacheRead,
      cacheWrite: model.cost?.cacheWrite ?? assumed.cost.cacheWrite,
    },
  };
}

function isLoopback(baseUrl: string | undefined): boolean {
  const host = baseUrl === undefined || !URL.canParse(baseUrl) ? "" : new URL(baseUrl).hostname;
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
