// A command in one line with a button that copies it.
import { html, type TemplateResult } from "lit";

import { LightElement } from "./light-element.ts";

export class CopyLine extends LightElement {
  static override properties = { text: {}, said: { state: true } };
  declare text: string;
  declare said: string;

  constructor() {
    super();
    this.text = "";
    this.said = "Copy";
  }

  protected override render(): TemplateResult {
    return html`
      <span class="copy-line">
        <code tabindex="0">${this.text}</code>
        <button class="button small" type="button" @click=${this.#copy} aria-live="polite">${this.said}</button>
      </span>
    `;
  }

  readonly #copy = async (): Promise<void> => {
    this.said = (await toClipboard(this.text)) ? "Copied" : "Select and copy manually";
    setTimeout(() => (this.said = "Copy"), 2500);
  };
}

/** Browsers give the clipboard only to secure pages, and people may refuse it. */
export async function toClipboard(words: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  return navigator.clipboard.writeText(words).then(
    () => true,
    () => false,
  );
}

customElements.define("copy-line", CopyLine);
