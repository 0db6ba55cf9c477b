// Models without a gateway: the gateway's model book, opened with the config and environment of this command.
import { createMask } from "../base/mask.ts";
import { systemClock } from "../base/clock.ts";
import { openLog } from "../base/log.ts";
import { defaultAgentId } from "../config/agents.ts";
import { readEnvironment } from "../config/environment.ts";
import { createModelBook } from "../model/book.ts";
import type { ModelBook, ModelRef } from "../model/model.ts";
import { testModel } from "../model/test-model.ts";
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

async function tryModel(book: ModelBook, ref: ModelRef, agentId: string): Promise<ModelTest> {
  const result = await testModel(book, ref, AbortSignal.timeout(TEST_TIMEOUT_MS), { agentId });
  const durationMs = result.latencyMs;
  return result.ok
    ? { ok: true, text: result.text, durationMs }
    : { ok: false, error: result.failure.message, durationMs };
}
