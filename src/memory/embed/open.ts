// Opens the embedder of an agent and caches it: shared by agents with equal settings, replaced when the config changes.
import type { AgentId } from "../../core/names.ts";
import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import { createProfiles } from "../../model/profiles.ts";
import { searchConfig } from "../settings.ts";
import { chooseEmbedder, type Plan } from "./choose.ts";
import type { Embedder, OpenEmbedder } from "./embedder.ts";
import { createGemini } from "./gemini.ts";
import { trackFailures, type TrackedEmbedder } from "./failure-tracker.ts";
import { createLocal } from "./local.ts";
import { createOllama } from "./ollama.ts";
import { createOpenAI } from "./openai.ts";
import { createVoyage } from "./voyage.ts";

export interface OpenDeps {
  readonly config: () => Config;
  readonly env: Env;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the local model stays loaded without a request. */
  readonly idleMs?: number;
}

export interface Embedders {
  readonly open: OpenEmbedder;
  close(): Promise<void>;
}

/** Searching for keys and packages reads the disk, so not for every batch. */
const lookAgainMs = 5000;

export function openEmbedders(deps: OpenDeps): Embedders {
  const { config, env, paths, clock, log } = deps;
  const profiles = createProfiles(deps);
  const opened = new Map<string, TrackedEmbedder>();
  const chosen = new Map<AgentId, { readonly config: Config; readonly at: number; readonly plans: Plans }>();

  let isBatchSaid = false;

  const plansOf = (agent: AgentId): Plans => {
    const known = chosen.get(agent);
    const now = clock.ticks();
    if (known?.config === config() && now - known.at < lookAgainMs) return known.plans;
    const plans = chooseEmbedder({ config: config(), env, paths, profiles }, agent);
    chosen.set(agent, { config: config(), at: now, plans });
    sayBatch(agent);
    closeUnused();
    return plans;
  };
  const sayBatch = (agent: AgentId): void => {
    const batch = searchConfig(config(), agent).remote?.batch;
    const isWanted = batch === true || (typeof batch === "object" && batch["enabled"] === true);
    if (!isWanted || isBatchSaid) return;
    isBatchSaid = true;
    log.info("memorySearch.remote.batch is not built: texts are sent immediately, many per request");
  };
  const closeUnused = (): void => {
    const used = new Set([...chosen.values()].flatMap(({ plans }) => [plans.first, plans.second].map(keyOf)));
    for (const [key, { embedder }] of opened) {
      if (used.has(key)) continue;
      opened.delete(key);
      embedder.close().catch((error: unknown) => log.warn("closing an embedder failed", { error: String(error) }));
    }
  };
  const use = (plan: Plan): TrackedEmbedder => {
    const key = keyOf(plan);
    const known = opened.get(key) ?? trackFailures(create(plan, deps.idleMs), clock);
    opened.set(key, known);
    return known;
  };

  return {
    async open(agent) {
      const { first, second, reason = "no embeddings", hint } = plansOf(agent);
      const mine = first === undefined ? undefined : use(first);
      const why = mine === undefined ? reason : mine.failing();
      if (second !== undefined && why !== undefined) {
        const from = first?.provider ?? searchConfig(config(), agent).provider ?? "auto";
        return { embedder: use(second).embedder, fallback: { from, reason: why } };
      }
      if (mine !== undefined) return { embedder: mine.embedder };
      return { reason, ...(hint === undefined ? {} : { hint }) };
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      chosen.clear();
      await Promise.all(all.map(({ embedder }) => embedder.close()));
    },
  };
}

type Plans = ReturnType<typeof chooseEmbedder>;

/** Secrets are part of the key: another API key means another embedder. */
function keyOf(plan: Plan | undefined): string {
  return sha256(JSON.stringify(plan ?? null));
}

function create(plan: Plan, idleMs: number | undefined): Embedder {
  switch (plan.provider) {
    case "openai":
      return createOpenAI(plan.remote);
    case "gemini":
      return createGemini(plan.remote);
    case "voyage":
      return createVoyage(plan.remote);
    case "ollama":
      return createOllama(plan.remote);
    case "local":
      return createLocal(plan.local, idleMs === undefined ? {} : { idleMs });
  }
}
