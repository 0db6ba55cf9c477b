// A form for a JSON Schema, with a switch to plain JSON. Emits valid values as `value` events.
import { html, nothing, type PropertyValues, type TemplateResult } from "lit";

import { checkValue, type FieldIssue } from "../form/check.ts";
import { canShow, emptyDraft, readDraft, toDraft, type Draft } from "../form/draft.ts";
import { fieldOf, type Schema } from "../form/field.ts";
import { isEqual } from "../form/json-equal.ts";
import { drawField, drawMembers, type FieldContext } from "./field.ts";
import { LightElement } from "./light-element.ts";

export class SchemaForm extends LightElement {
  static override properties = {
    schema: { attribute: false },
    action: {},
    busy: { type: Boolean },
    draft: { state: true },
    raw: { state: true },
    issues: { state: true },
  };
  declare schema: Schema;
  /** Label of the button. */
  declare action: string;
  declare busy: boolean;
  declare draft: Draft;
  /** The JSON being edited, or undefined while fields are shown. */
  declare raw: string | undefined;
  declare issues: readonly FieldIssue[];

  constructor() {
    super();
    this.schema = {};
    this.action = "Save";
    this.busy = false;
    this.draft = "";
    this.raw = undefined;
    this.issues = [];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    // The same schema, loaded again after a reconnect, must not clear the fields.
    if (!changed.has("schema") || isEqual(changed.get("schema"), this.schema)) return;
    this.draft = emptyDraft(fieldOf(this.schema));
    this.raw = undefined;
    this.issues = [];
  }

  protected override render(): TemplateResult {
    return html`
      <form class="schema-form" novalidate @submit=${this.#submit} aria-busy=${this.busy}>
        ${this.raw === undefined ? this.#drawFields() : this.#drawRaw(this.raw)}
        <div class="actions">
          <button class="button primary" type="submit" ?disabled=${this.busy}>${this.action}</button>
          <label class="switch">
            <input type="checkbox" .checked=${this.raw !== undefined} @change=${this.#switchRaw} />
            Edit as JSON
          </label>
        </div>
      </form>
    `;
  }

  #drawFields(): TemplateResult {
    const field = fieldOf(this.schema);
    const known = new Map(this.issues.map(({ path, message }) => [path, message]));
    const context: FieldContext = {
      schema: this.schema,
      draft: this.draft,
      path: "",
      name: "",
      label: "value",
      required: true,
      issues: known,
      set: (draft) => {
        this.draft = draft;
        // Problems are checked again on each change, but not before the first submit.
        if (this.issues.length > 0) this.issues = readDraft(this.schema, draft).issues;
      },
    };
    if (field.kind !== "object") return drawField(context);
    if (field.members.length === 0) return html`<p class="quiet">No arguments needed.</p>`;
    return html`${known.has("") ? this.#drawIssues() : nothing}${drawMembers(context, field)}`;
  }

  #drawRaw(raw: string): TemplateResult {
    return html`
      <div class="field">
        <label for="raw-json"><span class="label">Arguments as JSON</span></label>
        <textarea
          id="raw-json"
          class="mono"
          rows="10"
          spellcheck="false"
          .value=${raw}
          @input=${this.#editRaw}
        ></textarea>
        ${this.#drawIssues()}
      </div>
    `;
  }

  #drawIssues(): TemplateResult {
    return html`${this.issues.map(({ path, message }) => html`<span class="issue" role="alert">${path === "" ? "" : `${path}: `}${message}</span>`)}`;
  }

  readonly #editRaw = (event: Event): void => {
    this.raw = (event.target as HTMLTextAreaElement).value;
  };

  readonly #switchRaw = (event: Event): void => {
    if (this.raw === undefined) {
      const { value } = readDraft(this.schema, this.draft);
      this.raw = JSON.stringify(value ?? {}, null, 2);
      this.issues = [];
      return;
    }
    const reading = readRaw(this.schema, this.raw);
    const isShown = reading.value !== undefined && canShow(this.schema, reading.value);
    this.issues = isShown
      ? []
      : [...reading.issues, { path: "", message: "The form cannot show this value. Fix it, or keep editing as JSON." }];
    if (isShown) {
      this.draft = toDraft(this.schema, reading.value);
      this.raw = undefined;
    } else {
      (event.target as HTMLInputElement).checked = true;
    }
  };

  readonly #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { value, issues } =
      this.raw === undefined ? readDraft(this.schema, this.draft) : readRaw(this.schema, this.raw);
    this.issues = issues;
    if (issues.length === 0) {
      this.dispatchEvent(new CustomEvent("value", { detail: value }));
      return;
    }
    await this.updateComplete;
    this.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  };
}

function readRaw(schema: Schema, raw: string): { readonly value: unknown; readonly issues: readonly FieldIssue[] } {
  const { value, issues } = readDraft({}, raw.trim() === "" ? "{}" : raw);
  return issues.length > 0 ? { value: undefined, issues } : { value, issues: checkValue(schema, value) };
}

customElements.define("schema-form", SchemaForm);
