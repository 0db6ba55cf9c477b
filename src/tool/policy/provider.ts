// Selects the `byProvider` key for a model: the most specific one, with provider names normalized.
import { foldCase } from "./groups.ts";

/** Other spellings of the same provider. */
const sameProvider: ReadonlyMap<string, string> = new Map([
  ["z.ai", "zai"],
  ["z-ai", "zai"],
  ["bedrock", "amazon-bedrock"],
  ["aws-bedrock", "amazon-bedrock"],
  ["opencode-zen", "opencode"],
  ["kimi-code", "kimi-coding"],
  ["gemini", "google"],
]);

/** Other providers of the same vendor: a rule for the vendor applies to them too, unless they have their own rule. */
const vendorOf: ReadonlyMap<string, string> = new Map([
  ["openai-codex", "openai"],
  ["google-antigravity", "google"],
  ["google-gemini-cli", "google"],
  ["google-vertex", "google"],
  ["minimax-portal", "minimax"],
]);

/** The key as written in the config, or undefined when no key matches this model. */
export function providerKey(keys: Iterable<string>, model: string): string | undefined {
  const wanted = candidates(model);
  let best: { readonly key: string; readonly rank: number } | undefined;
  for (const key of keys) {
    const rank = wanted.indexOf(canonicalKey(key));
    if (rank !== -1 && (best === undefined || rank < best.rank)) best = { key, rank };
  }
  return best?.key;
}

/** Lower case, with the provider's canonical name; the model part keeps its slashes. */
export function canonicalKey(key: string): string {
  const folded = foldCase(key);
  const slash = folded.indexOf("/");
  const provider = (slash === -1 ? folded : folded.slice(0, slash)).trim();
  const rest = slash === -1 ? "" : `/${folded.slice(slash + 1).trim()}`;
  return `${sameProvider.get(provider) ?? provider}${rest}`;
}

/** Most specific first: a rule for the model beats one for the provider, the provider's own name beats the vendor's. */
function candidates(model: string): string[] {
  const full = canonicalKey(model);
  const slash = full.indexOf("/");
  const provider = slash === -1 ? full : full.slice(0, slash);
  const vendor = vendorOf.get(provider);
  const names = vendor === undefined ? [provider] : [provider, vendor];
  if (slash === -1) return names;
  return [...names.map((name) => `${name}${full.slice(slash)}`), ...names];
}
