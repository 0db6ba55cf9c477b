// An element drawn into the document itself, so that one style sheet, labels and anchors reach everywhere.
import { LitElement } from "lit";

export class LightElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
