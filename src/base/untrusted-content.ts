// Marks untrusted content so that a model can tell it from the owner's text (docs/decisions/0025-untrusted-content-is-marked.md).
import { newId } from "./ids.ts";

/** Wraps content in a marker that its author cannot guess, 48 random bits; markers and chat-template tokens inside are disarmed. */
export function wrapUntrusted(content: string, source: string, marker: string = newId().slice(-12)): string {
  const label = (plainLabel.test(source) ? source : source.replaceAll(/[^\p{L}\p{N} .:/@_-]/gu, "")).slice(0, 120);
  return `<outside ${marker} source="${label}">\n${neutralize(content)}\n</outside ${marker}>`;
}

/** Most labels; a test of ASCII is much faster than one of all letters. */
const plainLabel = /^[A-Za-z0-9 .:/@_-]*$/;

/** A visible sign shows that something was changed; a zero-width joiner would be invisible. */
export function neutralize(content: string): string {
  const text = content.toWellFormed();
  // Without one of these characters no pattern can match.
  if (!/[<[:]/.test(text)) return text;
  return text
    .replaceAll(ownMark, "‹$1")
    .replaceAll(templateWords, (word) =>
      word.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("[", "⟦").replaceAll("|", "¦"),
    )
    .replaceAll(turnWords, (_all, start: string, role: string) => `${start}${role}\u2236`);
}

/** Only the gateway may start a line with `System:`; in text of any sender that prefix is disarmed. */
export function neutralizeSystemPrefix(text: string): string {
  return text.includes("System:") ? text.replaceAll(systemPrefix, "$1\u2236") : text;
}

const systemPrefix = /((?:^|[\n\r\v\f\u0085\u2028\u2029])[ \t]*System):/gu;
// One run of spaces on each side of the slash: two adjacent runs would take quadratic time on a page of spaces.
const ownMark = /<(\s*(?:\/\s*)?outside)/giu;
// ChatML, Llama 2 and 3, Mistral, Gemma, Phi, DeepSeek, Qwen and the tags our own prompt and tools use.
const templateWords =
  /<[|｜][^<>\n]{1,60}[|｜]>|<\/?s>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>|<\/?(?:system|assistant|user|tool_call|tool_response|function_calls?|invoke|antml:[a-z_]+)\b[^<>]{0,80}>/giu;
// "Human:" at the start of a line is how older models start a turn; "System:" is the gateway's own prefix.
const turnWords = /(^|[\n\r\v\f\u0085\u2028\u2029])([ \t]*(?:System|Human|Assistant|User|SYSTEM))(?::)/gu;
