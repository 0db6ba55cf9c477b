// Chooses an agent's embedder: the configured one, else the first with a key, else the local model when it is
// installed.
import type { AgentId } from "../../core/names.ts";
import { expandHome, type Env, type Paths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import { placeOf, type Place } from "../../model/catalog.ts";
import type { Profiles } from "../../model/profiles.ts";
import { searchConfig, type SearchConfig } from "../settings.ts";
import type { EmbedProvider } from "./embedder.ts";
import { addExtraCommand, findExtra, findModelIn, type LocalModel } from "./extra.ts";
import type { RemoteSettings } from "./openai.ts";

export type Plan =
  | { readonly provider: Exclude<EmbedProvider, "local">; readonly remote: RemoteSettings }
  | { readonly provider: "local"; readonly local: LocalModel };

export interface Chosen {
  readonly first?: Plan;
  /** Used when the first choice fails. */
  readonly second?: Plan;
  /** Why there is no embedder. */
  readonly reason?: string;
  readonly hint?: string;
}

export interface ChooseDeps {
  readonly config: Config;
  readonly env: Env;
  readonly paths: Paths;
  readonly profiles: Profiles;
}

interface Known {
  readonly model: string;
  readonly baseUrl: string;
  readonly envKeys: readonly string[];
  /** The provider's name under `models.providers` and in auth profiles. */
  readonly names: readonly string[];
  readonly needsKey: boolean;
}

const known: Readonly<Record<Exclude<EmbedProvider, "local">, Known>> = {
  openai: {
    model: "text-embedding-3-small",
    baseUrl: "https://api.openai.com/v1",
    envKeys: ["OPENAI_API_KEY"],
    names: ["openai"],
    needsKey: true,
  },
  gemini: {
    model: "gemini-embedding-001",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    envKeys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    names: ["google", "gemini"],
    needsKey: true,
  },
  voyage: {
    model: "voyage-3.5",
    baseUrl: "https://api.voyageai.com/v1",
    envKeys: ["VOYAGE_API_KEY"],
    names: ["voyage"],
    needsKey: true,
  },
  ollama: {
    model: "nomic-embed-text",
    baseUrl: "http://127.0.0.1:11434",
    envKeys: ["OLLAMA_API_KEY"],
    names: ["ollama"],
    needsKey: false,
  },
};
const section = "agents.defaults.memorySearch";

export function chooseEmbedder(deps: ChooseDeps, agent: AgentId): Chosen {
  const search = searchConfig(deps.config, agent);
  const { provider = "auto", fallback = "none" } = search;
  if (provider === "none") return { reason: `${section}.provider is none`, hint: `${section}.provider` };
  const first = provider === "auto" ? automatic(deps, search, agent) : planFor(deps, search, agent, provider, true);
  const second =
    fallback === "none" || fallback === provider ? undefined : planFor(deps, search, agent, fallback, false);
  const spare = second === undefined || "reason" in second ? {} : { second };
  if (!("reason" in first)) return { first, ...spare };
  return { ...spare, ...first };
}

interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

/** The documented order, then the model that needs no key. */
function automatic(deps: ChooseDeps, search: SearchConfig, agent: AgentId): Plan | Refusal {
  const { modelPath } = search.local ?? {};
  const own = modelPath === undefined || modelPath === "" ? [] : [planFor(deps, search, agent, "local", true)];
  const keyed = (["openai", "gemini", "voyage"] as const).map((provider) =>
    // A custom URL or key implies the OpenAI-compatible protocol, which most servers support.
    planFor(deps, search, agent, provider, provider === "openai"),
  );
  const plans = [...own, ...keyed, planFor(deps, { ...search, local: {} }, agent, "local", true)];
  const usable = plans.find((plan): plan is Plan => !("reason" in plan));
  return usable ?? { reason: "no key for embeddings, and the local model is not installed", hint: addExtraCommand };
}

function planFor(
  deps: ChooseDeps,
  search: SearchConfig,
  agent: AgentId,
  provider: EmbedProvider,
  isFirst: boolean,
): Plan | Refusal {
  if (provider === "local") return localPlan(deps, search);
  return remotePlan(deps, search, agent, provider, isFirst);
}

function localPlan({ paths }: ChooseDeps, { local }: SearchConfig): Plan | Refusal {
  const engine = findExtra(paths, local?.modelCacheDir);
  if (engine === undefined) return { reason: "the local model is not installed", hint: addExtraCommand };
  const { modelPath } = local ?? {};
  if (modelPath === undefined || modelPath === "") return { provider: "local", local: engine };
  const model = findModelIn(expandHome(modelPath, paths.home), engine);
  return model === undefined
    ? {
        reason: `no BERT model in ${modelPath}: it must be a folder with config.json, tokenizer.json and .safetensors weights; for GGUF files use a server such as Ollama`,
        hint: `${section}.local.modelPath`,
      }
    : { provider: "local", local: model };
}

/** `remote.*` applies to the first choice and overrides `models.providers.*`; headers are merged. */
function remotePlan(
  deps: ChooseDeps,
  search: SearchConfig,
  agent: AgentId,
  provider: Exclude<EmbedProvider, "local">,
  isFirst: boolean,
): Plan | Refusal {
  const facts = known[provider];
  const remote = isFirst ? search.remote : undefined;
  const place = facts.names.map((name) => placeOf(deps.config, { provider: name, id: "" }, [])).find(isConfigured);
  const baseUrl = written(remote?.baseUrl) ?? place?.baseUrl ?? facts.baseUrl;
  const apiKey = written(remote?.apiKey) ?? storedKey(deps, agent, facts);
  const headers = { ...place?.headers, ...remote?.headers };
  // A custom server, or one that authenticates by a header, may need no key.
  const mayGoWithout = !facts.needsKey || written(remote?.baseUrl) !== undefined || hasCredential(headers);
  if (apiKey === undefined && !mayGoWithout)
    return { reason: `No API key found for provider "${provider}".`, hint: `${section}.remote.apiKey` };
  if (!URL.canParse(baseUrl)) return { reason: `not a valid URL: ${baseUrl}`, hint: `${section}.remote.baseUrl` };
  const model = (isFirst ? written(search.model) : undefined) ?? facts.model;
  return { provider, remote: { model, baseUrl, apiKey, headers, hint: `${section}.remote` } };
}

const isConfigured = (place: Place | undefined): place is Place => place !== undefined;
const written = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" ? undefined : text.trim();
const hasCredential = (headers: Readonly<Record<string, string>>): boolean =>
  Object.keys(headers).some((name) => /^(authorization|x-api-key|x-goog-api-key|api-key)$/i.test(name));

/** Profiles, then the config, then the environment. An OAuth login for chat is not a key for embeddings. */
function storedKey({ config, profiles }: ChooseDeps, agent: AgentId, { names, envKeys }: Known): string | undefined {
  const choices = names.flatMap((provider) => {
    const place = placeOf(config, { provider, id: "" }, []);
    const asKey: Place = {
      api: place?.api ?? "",
      baseUrl: place?.baseUrl,
      headers: {},
      apiKey: place?.apiKey,
      envKeys,
      asBearer: false,
      needsKey: true,
    };
    return profiles.choices({ provider, id: "" }, asKey, agent);
  });
  const keys = choices.filter(({ credential }) => credential?.kind === "key");
  return (keys.find(({ restsUntil }) => restsUntil === undefined) ?? keys[0])?.credential?.value;
}
