// An element without a shadow root, so that the style sheet, labels and anchors of the page reach into it.
import { LitElement } from "lit";

export class LightElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
