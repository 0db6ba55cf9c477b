// A button that copies a text and says so.
import { html, type TemplateResult } from "lit";

import { toClipboard } from "./copy-line.ts";
import { LightElement } from "./light-element.ts";

export class CopyButton extends LightElement {
  static override properties = { text: {}, said: { state: true } };
  declare text: string;
  declare said: string;

  constructor() {
    super();
    this.text = "";
    this.said = "Copy";
  }

  protected override render(): TemplateResult {
    return html`<button class="button small" type="button" @click=${this.#copy} aria-live="polite">
      ${this.said}
    </button>`;
  }

  readonly #copy = async (): Promise<void> => {
    this.said = (await toClipboard(this.text)) ? "Copied" : "Select and copy manually";
    setTimeout(() => (this.said = "Copy"), 2500);
  };
}

customElements.define("copy-button", CopyButton);
