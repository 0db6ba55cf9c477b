// Sends one small request, so that a person sees quickly whether a model works.
import { systemClock, type Clock } from "../base/clock.ts";
import type { ModelBook, ModelFailure, ModelRef } from "./model.ts";

export type ModelTest =
  | { readonly ok: true; readonly latencyMs: number; readonly firstTokenMs: number; readonly text: string }
  | { readonly ok: false; readonly latencyMs: number; readonly failure: ModelFailure };

export async function testModel(
  book: ModelBook,
  ref: ModelRef,
  signal: AbortSignal,
  { agentId = "main", clock = systemClock }: { readonly agentId?: string; readonly clock?: Clock } = {},
): Promise<ModelTest> {
  const startedAt = clock.ticks();
  const elapsed = (): number => Math.round(clock.ticks() - startedAt);
  const model = await book.open(ref, agentId, { resting: true });
  if (model === undefined) {
    const failure: ModelFailure = { kind: "auth", message: `No API key found for provider "${ref.provider}".` };
    return { ok: false, latencyMs: elapsed(), failure };
  }
  const request = { system: "", tools: [], thinking: "off", maxTokens: 256, cacheKey: "openclaw-test" } as const;
  const question = {
    role: "user",
    content: [{ type: "text", text: "Reply with the single word: ready" }],
    timestamp: 0,
  } as const;
  let text = "";
  let firstTokenMs: number | undefined;
  for await (const event of model.stream({ ...request, messages: [question] }, signal)) {
    if (event.type === "error") return { ok: false, latencyMs: elapsed(), failure: event.error };
    if (event.type === "text") text += event.delta;
    if (event.type === "text" || event.type === "thinking") firstTokenMs ??= elapsed();
  }
  await book.report(ref, agentId, "ok", model.profile);
  return { ok: true, latencyMs: elapsed(), firstTokenMs: firstTokenMs ?? elapsed(), text: text.trim() };
}
