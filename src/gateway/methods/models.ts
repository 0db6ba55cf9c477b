// Models and what they cost: listed, found on this machine, tested, chosen; usage from the ledger.
import { HouseError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/models.ts";
import { localDay, nothing, plus, type DayRow, type Ledger, type Totals } from "../../agent/ledger.ts";
import type { Edit } from "../../config/edit.ts";
import type { ModelBook, ModelRef } from "../../model/model.ts";
import type { SessionRecord } from "../../store/store.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export interface FoundModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  readonly source: string;
  readonly ready: boolean;
}

export interface ModelTest {
  readonly ok: boolean;
  readonly ms: number;
  readonly text?: string;
  readonly failure?: { readonly kind: string; readonly message: string };
}

export interface ModelMethodDeps {
  readonly models: ModelBook;
  readonly ledger: Ledger;
  /** Looks at the environment and at loopback, now. */
  readonly scan: () => Promise<readonly FoundModel[]>;
  readonly test: (ref: ModelRef, signal: AbortSignal) => Promise<ModelTest>;
}

const DAY_MS = 24 * 3_600_000;

export function modelMethods(context: GatewayContext, { models, ledger, scan, test }: ModelMethodDeps): Served[] {
  const { clock } = context;
  return [
    serve(methods.modelsList, async () => ({
      models: (await models.list()).map(({ provider, id, facts, ready, source }) => ({
        id,
        name: facts.name,
        provider,
        contextWindow: facts.contextWindow,
        reasoning: facts.reasoning,
        input: facts.input,
        ready,
        source,
      })),
    })),
    serve(methods.modelsScan, async () => ({ found: await scan() })),
    serve(methods.modelsTest, ({ provider, model }, _client, signal) => test({ provider, id: model }, signal)),
    serve(methods.modelsUse, async ({ provider, model, baseUrl }) => {
      await choose(context, provider, model, baseUrl);
      return { ok: true, model: `${provider}/${model}` };
    }),
    serve(methods.usageStatus, () => ({ updatedAt: clock.now(), providers: [] })),
    serve(methods.usageCost, async (params) => {
      const { from, to, days } = rangeOf(params, clock.now());
      const { agentId } = params;
      const query = { from, to, ...(typeof agentId === "string" ? { agentId } : {}) };
      const daily = byDate(await ledger.daily(query));
      return { updatedAt: clock.now(), days, daily, totals: toWire(await ledger.totals(query)) };
    }),
    serve(methods.sessionsUsage, async (params) => {
      const { from, to } = rangeOf(params, clock.now());
      const records = await sessionsFor(context, params, from);
      const sessions = await Promise.all(
        records.map(async ({ key, sessionId, updatedAt, agentId, label, entry }) => ({
          key,
          sessionId,
          updatedAt,
          agentId,
          ...(label === undefined ? {} : { label }),
          ...(typeof entry["modelProvider"] === "string" ? { modelProvider: entry["modelProvider"] } : {}),
          ...(typeof entry["model"] === "string" ? { model: entry["model"] } : {}),
          usage: { sessionId, lastActivity: updatedAt, ...toWire(await ledger.session(key)) },
        })),
      );
      return {
        updatedAt: clock.now(),
        startDate: from,
        endDate: to,
        sessions,
        totals: toWire(await ledger.totals({ from, to })),
      };
    }),
  ];
}

const MAX_SESSIONS = 1000;

/** One session, or those active since the first day, newest first. */
async function sessionsFor(
  { store, config }: GatewayContext,
  { key, limit = MAX_SESSIONS }: { readonly key?: string; readonly limit?: number },
  from: string,
): Promise<readonly SessionRecord[]> {
  if (key === undefined)
    return store.sessions.list({ activeSince: Date.parse(`${from}T00:00:00`), limit: Math.min(limit, MAX_SESSIONS) });
  const record = await store.sessions.get(subjectOf({ sessionKey: key }, config()).session);
  return record === undefined ? [] : [record];
}

/** Written into the config with its comments kept; a server of one's own becomes a provider there. */
async function choose(
  context: GatewayContext,
  provider: string,
  model: string,
  baseUrl: string | undefined,
): Promise<void> {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(provider))
    throw new HouseError("model.bad-reference", `not a provider name: ${provider}`);
  const { editText } = await import("../../config/edit.ts");
  const { writeConfig } = await import("../../config/write.ts");
  const known = context.config().models?.providers?.[provider];
  const server: Edit[] =
    baseUrl === undefined || known !== undefined
      ? []
      : [
          {
            path: `models.providers["${provider}"]`,
            value: { baseUrl, api: "openai-completions", models: [{ id: model, name: model }] },
          },
        ];
  const { raw, hash, exists } = context.readConfig();
  const nextText = editText(exists ? raw : "{}\n", [
    ...server,
    { path: "agents.defaults.model.primary", value: `${provider}/${model}` },
  ]);
  writeConfig({ paths: context.paths, env: context.env, nextText, ...(exists ? { baseHash: hash } : {}) });
  context.takeOver();
}

function rangeOf(params: Record<string, unknown>, now: number): { from: string; to: string; days: number } {
  const word = (name: string): string | undefined => {
    const value = params[name];
    return typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) ? value : undefined;
  };
  const wanted =
    typeof params["days"] === "number" && params["days"] > 0 ? Math.min(366, Math.floor(params["days"])) : 30;
  const to = word("endDate") ?? localDay(now);
  const from = word("startDate") ?? localDay(now - (wanted - 1) * DAY_MS);
  return { from, to, days: Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1) };
}

function byDate(rows: readonly DayRow[]): object[] {
  const dates = Map.groupBy(rows, ({ date }) => date);
  return [...dates].map(([date, list]) => ({ date, ...toWire(list.reduce<Totals>(plus, nothing)) }));
}

function toWire({ input, output, cacheRead, cacheWrite, totalTokens, costUsd, calls, runs }: Totals): object {
  return { input, output, cacheRead, cacheWrite, totalTokens, totalCost: costUsd, calls, runs };
}
