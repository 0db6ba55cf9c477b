// Opens the vendor wire of a protocol; loads its package with the first use.
import type { ModelApi } from "../core/model-api.ts";
import { Lru } from "../base/lru.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** The most recent wires with their credentials; most turns use the same one. */
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
  // Without this the packages print warnings to the console; this program has its own log.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  if (api === "anthropic-messages") return (await import("./wire/anthropic.ts")).loadAnthropic(settings);
  if (api === "google-generative-ai") return (await import("./wire/google.ts")).loadGoogle(settings);
  if (api === "openai-responses") return (await import("./wire/openai.ts")).loadOpenAI(settings, "responses");
  // OpenAI itself uses other parameter names (max_completion_tokens) than compatible servers.
  if (settings.provider === "openai") return (await import("./wire/openai.ts")).loadOpenAI(settings, "chat");
  return (await import("./wire/openai-compatible.ts")).loadOpenAICompatible(settings);
}
