// A short word with a colour; the word alone already says it.
import { html, type TemplateResult } from "lit";

export type Tone = "good" | "bad" | "warn" | "quiet";

export function badge(tone: Tone, words: string): TemplateResult {
  return html`<span class="badge ${tone}">${words}</span>`;
}
