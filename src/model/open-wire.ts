// Chooses the leaf for a protocol and loads its package when it is first asked for.
import type { ModelApi } from "../core/model-api.ts";
import { Lru } from "../base/lru.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** The last few places that were asked, each with its credential: most turns go to the same one. */
const wires = new Lru<Promise<Wire>>(32);

export function openWire(api: ModelApi, settings: WireSettings): Promise<Wire> {
  const key = JSON.stringify([api, settings]);
  const known = wires.get(key);
  if (known !== undefined) return known;
  const wire = load(api, settings);
  wires.set(key, wire);
  wire.catch(() => wires.delete(key));
  return wire;
}

async function load(api: ModelApi, settings: WireSettings): Promise<Wire> {
  // The packages print to the console unless told not to; the house has a log of its own.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  if (api === "anthropic-messages") return (await import("./wire/anthropic.ts")).loadAnthropic(settings);
  if (api === "google-generative-ai") return (await import("./wire/google.ts")).loadGoogle(settings);
  if (api === "openai-responses") return (await import("./wire/openai.ts")).loadOpenAI(settings, "responses");
  // OpenAI itself wants other words for the same things (max_completion_tokens) than the servers that copy it.
  if (settings.provider === "openai") return (await import("./wire/openai.ts")).loadOpenAI(settings, "chat");
  return (await import("./wire/openai-compatible.ts")).loadOpenAICompatible(settings);
}
