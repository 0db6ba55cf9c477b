// Content from outside, marked so that a model can tell it from what the person says (ruling 25).
import { newSecret } from "./ids.ts";

/** Wraps with a marker nobody outside can know; markers and chat-template words inside lose their force. */
export function wrapUntrusted(content: string, source: string, marker: string = newSecret(6)): string {
  const label = source.replaceAll(/[^\p{L}\p{N} .:/@_-]/gu, "").slice(0, 120);
  return `<outside ${marker} source="${label}">\n${neutralise(content)}\n</outside ${marker}>`;
}

/** A zero-width joiner would be invisible; a visible sign says that something was changed. */
export function neutralise(content: string): string {
  return content
    .toWellFormed()
    .replaceAll(ownMark, "‹$1")
    .replaceAll(templateWords, (word) =>
      word.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("[", "⟦").replaceAll("|", "¦"),
    )
    .replaceAll(turnWords, (_all, start: string, role: string) => `${start}${role}\u2236`);
}

/** What somebody said, whoever it is: only the house begins a line with its word. Nothing else is touched. */
export function neutralizeSystemPrefix(said: string): string {
  return said.includes("System:") ? said.replaceAll(houseWord, "$1\u2236") : said;
}

const houseWord = /((?:^|[\n\r\v\f\u0085\u2028\u2029])[ \t]*System):/gu;
// The spaces stand once on each side of the slash: two runs side by side would take a page of spaces the square of its length.
const ownMark = /<(\s*(?:\/\s*)?outside)/giu;
// ChatML, Llama 2 and 3, Mistral, Gemma, Phi, DeepSeek, Qwen and the tags our own prompt and tools use.
const templateWords =
  /<[|｜][^<>\n]{1,60}[|｜]>|<\/?s>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>|<\/?(?:system|assistant|user|tool_call|tool_response|function_calls?|invoke|antml:[a-z_]+)\b[^<>]{0,80}>/giu;
// "Human:" at the start of a line is how older models begin a turn; "System:" is how the house speaks.
const turnWords = /(^|[\n\r\v\f\u0085\u2028\u2029])([ \t]*(?:System|Human|Assistant|User|SYSTEM))(?::)/gu;
