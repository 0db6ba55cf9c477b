// Models: list them, find them on this machine, test one, choose one.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/models.ts";
import type { Edit } from "../../config/edit.ts";
import type { Discovery } from "../../model/discover.ts";
import type { ModelBook } from "../../model/model.ts";
import { newServer } from "../../model/providers.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export interface ModelMethodDeps {
  readonly models: ModelBook;
  readonly discovery: Discovery;
}

export function modelMethods(context: GatewayContext, { models, discovery }: ModelMethodDeps): Served[] {
  return [
    serve(methods.modelsList)(async () => ({
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
    serve(methods.modelsScan)(async () => ({ found: await scan(models, discovery) })),
    serve(methods.modelsTest)(async ({ provider, model }, _client, signal) => {
      const { testModel } = await import("../../model/test-model.ts");
      const { ok, latencyMs: ms, ...rest } = await testModel(models, { provider, id: model }, signal);
      if ("text" in rest) return { ok, ms, text: rest.text };
      return { ok, ms, failure: { kind: rest.failure.kind, message: context.mask(rest.failure.message) } };
    }),
    serve(methods.modelsUse)(async ({ provider, model, baseUrl }) => {
      await choose(context, provider, model, baseUrl);
      return { ok: true, model: `${provider}/${model}` };
    }),
  ];
}

/** Checks the environment and servers on loopback. */
async function scan(models: ModelBook, discovery: Discovery): Promise<readonly methods.FoundModel[]> {
  discovery.forget();
  await discovery.find();
  const baseUrlOf = (provider: string): { baseUrl?: string } => {
    const server = discovery.known().find((found) => found.provider === provider);
    return server === undefined ? {} : { baseUrl: server.baseUrl };
  };
  return (await models.list()).flatMap(({ provider, id, ready, source }): methods.FoundModel[] =>
    ready ? [{ provider, model: id, ready, source, ...baseUrlOf(provider) }] : [],
  );
}

/** Writes the choice to the config and keeps its comments; your own server becomes a provider there. */
async function choose(
  context: GatewayContext,
  provider: string,
  model: string,
  baseUrl: string | undefined,
): Promise<void> {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(provider))
    throw new OpenClawError("model.bad-reference", `not a provider name: ${provider}`);
  const { editConfig } = await import("../../config/change.ts");
  editConfig(context, ({ config }): Edit[] => [
    ...(baseUrl === undefined || config.models?.providers?.[provider] !== undefined
      ? []
      : [{ path: ["models", "providers", provider], value: newServer(baseUrl, model) }]),
    { path: "agents.defaults.model.primary", value: `${provider}/${model}` },
  ]);
  context.applyConfigFile();
}
