// GET /v1/models: the agents and models that a caller may name in `model`, in the shape of OpenAI.
import type { IncomingMessage, ServerResponse } from "node:http";

import { agentIds } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { nameOf } from "../../model/catalog.ts";
import type { ModelBook } from "../../model/model.ts";
import { sendJson } from "./answer.ts";
import { unknownModel, usableModels } from "./model-names.ts";
import { sendFailure, type OpenAIDeps } from "./openai-turn.ts";

interface Listed {
  readonly id: string;
  readonly object: "model";
  /** Not known here; the shape requires a number. */
  readonly created: 0;
  readonly owned_by: string;
}

/** `id` is the part of the path after `/v1/models/`, empty for the list. */
export async function serveModels(
  _request: IncomingMessage,
  response: ServerResponse,
  { context, models }: OpenAIDeps,
  id: string,
): Promise<void> {
  try {
    const data = await listModels(context.config(), models);
    if (id === "") return sendJson(response, 200, { object: "list", data });
    const found = data.find((model) => model.id === decodeURIComponent(id));
    if (found === undefined) throw unknownModel(id);
    sendJson(response, 200, found);
  } catch (error) {
    sendFailure(response, error instanceof URIError ? unknownModel(id) : error, context);
  }
}

async function listModels(config: Config, models: ModelBook): Promise<Listed[]> {
  const agents = ["openclaw", ...agentIds(config).map((agent) => `openclaw:${agent}`)];
  const usable = await usableModels(config, models);
  return [
    ...agents.map((id) => ({ id, owned_by: "openclaw" })),
    ...usable.map((ref) => ({ id: nameOf(ref), owned_by: ref.provider })),
  ].map(({ id, owned_by }) => ({ id, object: "model", created: 0, owned_by }));
}
