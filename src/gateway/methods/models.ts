// Models: list them, find them on this machine, test one, choose one.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/models.ts";
import type { Edit } from "../../config/edit.ts";
import type { ModelBook, ModelRef } from "../../model/model.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export interface ModelMethodDeps {
  readonly models: ModelBook;
  /** Checks the environment and servers on loopback. */
  readonly scan: () => Promise<readonly methods.FoundModel[]>;
  readonly test: (ref: ModelRef, signal: AbortSignal) => Promise<methods.ModelTest>;
}

export function modelMethods(context: GatewayContext, { models, scan, test }: ModelMethodDeps): Served[] {
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
    serve(methods.modelsScan)(async () => ({ found: await scan() })),
    serve(methods.modelsTest)(({ provider, model }, _client, signal) => test({ provider, id: model }, signal)),
    serve(methods.modelsUse)(async ({ provider, model, baseUrl }) => {
      await choose(context, provider, model, baseUrl);
      return { ok: true, model: `${provider}/${model}` };
    }),
  ];
}

/** Written into the config with its comments kept; a server of one's own becomes a provider there. */
async function choose(
  context: GatewayContext,
  provider: string,
  model: string,
  baseUrl: string | undefined,
): Promise<void> {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(provider))
    throw new OpenClawError("model.bad-reference", `not a provider name: ${provider}`);
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
