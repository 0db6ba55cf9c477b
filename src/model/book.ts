// Chooses the models of a run, in order, and opens each with the best available credential.
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createMask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { isModelApi } from "../core/model-api.ts";
import { parseAgentId } from "../core/names.ts";
import { allModels, factsOf, namesIn, parseModelRef, placeOf, type FoundServer, type ModelChoice } from "./catalog.ts";
import { usualDeadlines, type Deadlines } from "./deadline.ts";
import { createDiscovery, type Discovery } from "./discover.ts";
import type { Model, ModelBook, ModelRef } from "./model.ts";
import { openWire } from "./open-wire.ts";
import { createProfiles, type Choice, type Profiles } from "./profiles.ts";
import { firstChoices, knownProviders } from "./providers.ts";

export interface ModelBookDeps {
  readonly config: () => Config;
  readonly env: Env;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlines?: Deadlines;
  readonly discovery?: Discovery;
}

export function createModelBook(deps: ModelBookDeps): ModelBook {
  const { config, clock, log, env, deadlines = usualDeadlines } = deps;
  const discovery = deps.discovery ?? createDiscovery({ env, clock });
  const profiles = createProfiles(deps);
  /** For callers that report an outcome without naming the credential. */
  const lastOpened = new Map<string, string>();
  const choicesFor = (ref: ModelRef, agentId: string, found: readonly FoundServer[]): readonly Choice[] => {
    const place = placeOf(config(), ref, found);
    return place === undefined ? [] : profiles.choices(ref, place, agentId);
  };
  /** Probes for local servers only when the name requires it. */
  const serversFor = async ({ provider }: ModelRef): Promise<readonly FoundServer[]> => {
    const isConfigured = config().models?.providers?.[provider]?.baseUrl !== undefined;
    const mayBeLocal = knownProviders[provider] === undefined || knownProviders[provider].isLocal === true;
    return isConfigured || !mayBeLocal ? discovery.known() : discovery.find();
  };

  return {
    candidates: async ({ agentId, override, needs }) => {
      const chosen = chosenRefs(config(), agentId, needs);
      if (chosen.length > 0)
        return unique(override === undefined ? chosen : [override, ...chosen.slice(1), ...chosen.slice(0, 1)]);
      if (override !== undefined) return [override];
      return firstFound(config(), agentId, profiles, discovery);
    },
    async open(ref, agentId, { resting = false } = {}) {
      const found = await serversFor(ref);
      const place = placeOf(config(), ref, found);
      const [choice] = choicesFor(ref, agentId, found).filter(({ restsUntil }) => resting || restsUntil === undefined);
      if (place === undefined || choice === undefined) return undefined;
      if (!isModelApi(place.api)) {
        log.warn(`${ref.provider} uses the protocol ${place.api}, which is not supported`, {
          hint: `models.providers.${ref.provider}.api`,
        });
        return undefined;
      }
      const { baseUrl, headers } = place;
      lastOpened.set(`${agentId}/${ref.provider}`, choice.profile);
      const wire = await openWire(place.api, {
        provider: ref.provider,
        modelId: ref.id,
        baseUrl,
        credential: choice.credential,
        headers,
      });
      const { createModel } = await import("./stream.ts");
      return createModel({
        provider: ref.provider,
        id: ref.id,
        profile: choice.profile,
        facts: factsOf(config(), ref, found),
        wire,
        deadlines,
        clock,
        mask: createMask(choice.credential === undefined ? [] : [choice.credential.value]),
        params: paramsOf(config(), ref),
      }) satisfies Model;
    },
    async report(ref, agentId, outcome, profile) {
      if (outcome !== "ok" && outcome.kind === "network") discovery.forget();
      const used = profile ?? lastOpened.get(`${agentId}/${ref.provider}`);
      if (used !== undefined) profiles.report(ref, agentId, used, outcome);
    },
    async ready(ref, agentId) {
      return choicesFor(ref, agentId, discovery.known()).filter(({ restsUntil }) => restsUntil === undefined).length;
    },
    facts: (ref) => factsOf(config(), ref, discovery.known()),
    imageModels: (agentId) =>
      imageRefs(config(), agentId, (ref) => choicesFor(ref, agentId, discovery.known()).length > 0),
    async endpoint(ref, agentId) {
      const found = await serversFor(ref);
      const place = placeOf(config(), ref, found);
      const choice = choicesFor(ref, agentId, found).find(({ restsUntil }) => restsUntil === undefined);
      if (place === undefined || choice === undefined) return undefined;
      const { api, baseUrl, headers } = place;
      return { ref, api, baseUrl, headers, credential: choice.credential, profile: choice.profile };
    },
    async list() {
      const found = await discovery.find();
      return allModels(config(), found).map((entry) => ({
        ...entry,
        facts: factsOf(config(), entry, found),
        ready: isReady(entry, choicesFor(entry, "main", found), found, config()),
      }));
    },
  };
}

/** The configured models of this agent: its own choice, otherwise the default; a plain name keeps the default's fallbacks. */
function chosenRefs(config: Config, agentId: string, needs: "image" | undefined): readonly ModelRef[] {
  const defaults = config.agents?.defaults;
  const own: ModelChoice = agentConfig(config, parseAgentId(agentId))?.model;
  const shared: ModelChoice = defaults?.model;
  const fallbacks = fallbacksOf(own) ?? fallbacksOf(shared) ?? [];
  const primary = primaryOf(own) ?? primaryOf(shared);
  const names = [...(primary === undefined ? [] : [primary]), ...fallbacks];
  const refs = unique(names.flatMap((name) => parseModelRef(name, config) ?? []));
  const [first] = refs;
  if (needs !== "image" || first === undefined || factsOf(config, first, []).input.includes("image")) return refs;
  const pictures = namesIn(defaults?.imageModel).flatMap((name) => parseModelRef(name, config) ?? []);
  return unique([...pictures, ...refs]);
}

function primaryOf(choice: ModelChoice): string | undefined {
  return typeof choice === "string" ? choice : choice?.primary;
}

function fallbacksOf(choice: ModelChoice): readonly string[] | undefined {
  return typeof choice === "string" ? undefined : choice?.fallbacks;
}

/**
 * The models that answer questions about pictures: the configured ones; otherwise the default model when it accepts
 * images, a model of the same provider that does, or the first well-known one with a credential.
 */
function imageRefs(config: Config, agentId: string, hasCredential: (ref: ModelRef) => boolean): readonly ModelRef[] {
  const configured = namesIn(config.agents?.defaults?.imageModel).flatMap((name) => parseModelRef(name, config) ?? []);
  if (configured.length > 0) return unique(configured);
  const seesImages = (ref: ModelRef): boolean => factsOf(config, ref, []).input.includes("image");
  const [first] = chosenRefs(config, agentId, undefined);
  const sameProvider = allModels(config, []).filter(({ provider }) => provider === first?.provider);
  const wellKnown = config.models?.mode === "replace" ? [] : imageProviders.flatMap(firstChoiceOf);
  const providerModels = allModels(config, []).filter(({ source }) => source === "config");
  const found = [...(first === undefined ? [] : [first]), ...sameProvider, ...providerModels, ...wellKnown].find(
    (ref) => seesImages(ref) && hasCredential(ref),
  );
  return found === undefined ? [] : [{ provider: found.provider, id: found.id }];
}

/** Tried in this order when the default model's provider has no model for pictures. */
const imageProviders = ["openai", "anthropic", "google"];

const firstChoiceOf = (provider: string): readonly ModelRef[] =>
  firstChoices.filter((choice) => choice.provider === provider);

/** Without a configured model: a configured provider, a key, or a server on this machine (docs/decisions/0026-models-are-found.md). */
async function firstFound(
  config: Config,
  agentId: string,
  profiles: Profiles,
  discovery: Discovery,
): Promise<readonly ModelRef[]> {
  const configured = Object.entries(config.models?.providers ?? {}).flatMap(([provider, entry]) =>
    (entry?.models ?? []).map(({ id }) => ({ provider, id })),
  );
  const withKey = (config.models?.mode === "replace" ? [] : firstChoices).filter((ref) => {
    const place = placeOf(config, ref, []);
    return place !== undefined && profiles.choices(ref, place, agentId).length > 0;
  });
  const [first] = [...configured, ...withKey];
  if (first !== undefined) return [first];
  const [server] = await discovery.find();
  const [model] = server?.models ?? [];
  return server === undefined || model === undefined ? [] : [{ provider: server.provider, id: model.id }];
}

/** A local server is ready only when it was found; any other provider when it has a key. */
function isReady(
  { provider }: ModelRef,
  choices: readonly Choice[],
  found: readonly FoundServer[],
  config: Config,
): boolean {
  if (choices.length === 0) return false;
  const isConfigured = config.models?.providers?.[provider] !== undefined;
  return (
    isConfigured || knownProviders[provider]?.isLocal !== true || found.some((server) => server.provider === provider)
  );
}

function paramsOf(config: Config, { provider, id }: ModelRef): Readonly<Record<string, unknown>> {
  const params = config.agents?.defaults?.models?.[`${provider}/${id}`]?.params;
  return typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
}

function unique(refs: readonly ModelRef[]): readonly ModelRef[] {
  return [...new Map(refs.map((ref) => [`${ref.provider}/${ref.id}`, ref])).values()];
}
