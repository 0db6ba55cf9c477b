// A button that copies a text and confirms it.
import { html, type TemplateResult } from "lit";

import { LightElement } from "./light-element.ts";

export class CopyButton extends LightElement {
  static override properties = { text: {}, label: { state: true } };
  declare text: string;
  declare label: string;

  constructor() {
    super();
    this.text = "";
    this.label = "Copy";
  }

  protected override render(): TemplateResult {
    return html`<button class="button small" type="button" @click=${this.#copy} aria-live="polite">
      ${this.label}
    </button>`;
  }

  readonly #copy = async (): Promise<void> => {
    this.label = (await toClipboard(this.text)) ? "Copied" : "Select and copy manually";
    setTimeout(() => (this.label = "Copy"), 2500);
  };
}

/** Browsers offer the clipboard only to secure pages, and people may deny it. */
async function toClipboard(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

customElements.define("copy-button", CopyButton);
