// A short colored label; the text alone carries the meaning.
import { html, type TemplateResult } from "lit";

export type Tone = "good" | "bad" | "warn" | "quiet";

export function badge(tone: Tone, label: string): TemplateResult {
  return html`<span class="badge ${tone}">${label}</span>`;
}
