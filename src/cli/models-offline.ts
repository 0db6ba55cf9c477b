// Models without a gateway: the same book that the gateway uses, over this config and this environment.
import { createMask } from "../base/mask.ts";
import { systemClock } from "../base/clock.ts";
import { openLog } from "../base/log.ts";
import { defaultAgentId } from "../config/agents.ts";
import { readEnvironment } from "../config/environment.ts";
import { createModelBook } from "../model/book.ts";
import type { Model, ModelBook, ModelFailure } from "../model/model.ts";
import type { Io } from "./io.ts";
import type { ModelRow, Models, ModelTest } from "./models-here.ts";
import { requireConfig } from "./settings.ts";

const TEST_TIMEOUT_MS = 60_000;

export async function modelsOffline(io: Io): Promise<Models> {
  const { config } = await requireConfig(io);
  const paths = io.paths();
  const book = createModelBook({
    config: () => config,
    env: readEnvironment({ paths, env: io.env }),
    paths,
    clock: systemClock,
    log: openLog({ level: "silent", consoleLevel: "silent", consoleStyle: "compact", mask: createMask() }),
  });
  const rows = async (): Promise<ModelRow[]> =>
    (await book.list()).map(({ provider, id, facts, ready, source }) => ({
      provider,
      id,
      name: facts.name,
      contextWindow: facts.contextWindow,
      reasoning: facts.reasoning,
      input: facts.input,
      ready,
      source,
    }));
  return {
    where: "here",
    list: rows,
    scan: async () => (await rows()).filter(({ ready }) => ready === true),
    test: (provider, id) => tryModel(book, { provider, id }, defaultAgentId(config)),
  };
}

async function tryModel(book: ModelBook, ref: { provider: string; id: string }, agentId: string): Promise<ModelTest> {
  const model = await book.open(ref, agentId);
  if (model === undefined)
    return {
      ok: false,
      error: `there is no key for ${ref.provider}`,
      hint: `openclaw configure --section model --provider ${ref.provider}`,
    };
  const started = systemClock.ticks();
  const { text, failure } = await ask(model);
  await book.report(ref, agentId, failure ?? "ok");
  const durationMs = systemClock.ticks() - started;
  return failure === undefined ? { ok: true, text, durationMs } : { ok: false, error: failure.message, durationMs };
}

async function ask(model: Model): Promise<{ text: string; failure: ModelFailure | undefined }> {
  let text = "";
  const request = {
    system: "You are being tested. Answer in one word.",
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Say ok." }], timestamp: 0 }],
    tools: [],
    thinking: "off" as const,
    maxTokens: Math.min(256, model.facts.maxTokens),
    cacheKey: "models-test",
  };
  for await (const event of model.stream(request, AbortSignal.timeout(TEST_TIMEOUT_MS))) {
    if (event.type === "text") text += event.delta;
    if (event.type === "error") return { text, failure: event.error };
  }
  return { text: text.trim(), failure: undefined };
}
