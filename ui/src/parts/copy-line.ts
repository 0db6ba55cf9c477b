// A command in one line with a button that copies it.
import { html, type TemplateResult } from "lit";

import "./copy-button.ts";
import { LightElement } from "./light-element.ts";

export class CopyLine extends LightElement {
  static override properties = { text: {} };
  declare text: string;

  constructor() {
    super();
    this.text = "";
  }

  protected override render(): TemplateResult {
    return html`
      <span class="copy-line">
        <code tabindex="0">${this.text}</code>
        <copy-button .text=${this.text}></copy-button>
      </span>
    `;
  }
}

customElements.define("copy-line", CopyLine);
