// Draws one field of a schema form, and the fields inside it.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import { memberPath } from "../form/check.ts";
import { emptyDraft, entriesOf, membersOf, variantOf, wordsIn, type Draft } from "../form/draft.ts";
import {
  describeSchema,
  fieldOf,
  isOtherName,
  variantLabel,
  type Field,
  type Member,
  type Schema,
} from "../form/field.ts";

export interface Place {
  readonly schema: Schema;
  readonly draft: Draft;
  readonly path: string;
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  /** Messages by JSON pointer. */
  readonly issues: ReadonlyMap<string, string>;
  set(draft: Draft): void;
}

export function drawField(place: Place): TemplateResult {
  const field = fieldOf(place.schema, place.name);
  if (field.kind === "object") return drawGroup(place, drawMembers(place, field));
  if (field.kind === "list") return drawGroup(place, drawEntries(place, field));
  if (field.kind === "variants") return drawGroup(place, drawVariants(place, field));
  return drawRow(place, field);
}

export function drawMembers(place: Place, field: Extract<Field, { kind: "object" }>): TemplateResult {
  const drafts = membersOf(place.draft);
  const draw = ({ name, schema, required }: Member): TemplateResult =>
    drawField({
      ...place,
      schema,
      required,
      name,
      label: name,
      path: memberPath(place.path, name),
      draft: drafts[name] ?? emptyDraft(fieldOf(schema, name)),
      set: (draft) => place.set({ members: { ...drafts, [name]: draft } }),
    });
  const others = field.members.filter((member) => isOtherName(member, field.members));
  const own = field.members.filter((member) => !others.includes(member));
  return html`
    ${own.map(draw)}
    ${
      others.length === 0
        ? nothing
        : html`<details class="more">
            <summary>Other names for the same</summary>
            <div class="schema-form">${others.map(draw)}</div>
          </details>`
    }
  `;
}

function drawGroup(place: Place, inside: TemplateResult): TemplateResult {
  return html`
    <fieldset class="group">
      <legend>${drawLabel(place)}</legend>
      ${drawDescription(place)} ${drawIssue(place)} ${inside}
    </fieldset>
  `;
}

function drawEntries(place: Place, field: Extract<Field, { kind: "list" }>): TemplateResult {
  const entries = entriesOf(place.draft);
  const itemField = fieldOf(field.item);
  return html`
    ${entries.map(
      (draft, index) => html`
        <div class="entry">
          ${drawField({
            ...place,
            schema: field.item,
            draft,
            required: true,
            name: "",
            label: `${field.itemName === "" ? "entry" : field.itemName} ${index + 1}`,
            path: `${place.path}/${index}`,
            set: (next) => place.set(entries.with(index, next)),
          })}
          <button
            class="button small"
            type="button"
            aria-label=${`Remove entry ${index + 1} of ${place.label}`}
            @click=${() => place.set(entries.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      `,
    )}
    <button class="button small" type="button" @click=${() => place.set([...entries, emptyDraft(itemField)])}>
      Add to ${place.label}
    </button>
  `;
}

function drawVariants(place: Place, field: Extract<Field, { kind: "variants" }>): TemplateResult {
  const { pick, draft } = variantOf(place.draft);
  const schema = pick === "" ? undefined : field.variants[Number(pick)];
  const choose = (next: string): void => {
    const variant = field.variants[Number(next)];
    place.set({
      pick: next,
      draft: next === "" || variant === undefined ? "" : emptyDraft(fieldOf(variant, place.name)),
    });
  };
  return html`
    <select
      id=${idOf(place)}
      aria-label=${`Form of ${place.label}`}
      .value=${live(pick)}
      @change=${(event: Event) => choose(valueOf(event))}
    >
      <option value="">${place.required ? "choose …" : "not set"}</option>
      ${field.variants.map((variant, index) => html`<option value=${index} ?selected=${pick === String(index)}>${variantLabel(variant)}</option>`)}
    </select>
    ${
      schema === undefined
        ? nothing
        : drawField({
            ...place,
            schema,
            draft,
            required: true,
            label: variantLabel(schema),
            set: (next) => place.set({ pick, draft: next }),
          })
    }
  `;
}

function drawRow(place: Place, field: Field): TemplateResult {
  return html`
    <div class="field">
      <label for=${idOf(place)}>${drawLabel(place)}</label>
      ${drawDescription(place)} ${drawInput(place, field)} ${drawIssue(place)}
    </div>
  `;
}

function drawInput(place: Place, field: Field): TemplateResult {
  const words = wordsIn(place.draft);
  if (field.kind === "boolean")
    return drawSelect(place, words, [
      ["true", "yes"],
      ["false", "no"],
    ]);
  if (field.kind === "choice")
    return drawSelect(
      place,
      words,
      field.options.map(({ label }, index) => [String(index), label] as const),
    );
  const isLong = field.kind === "json" || (field.kind === "text" && field.multiline);
  const shared = { placeholder: presetOf(place.schema), invalid: place.issues.has(place.path) };
  if (isLong) {
    return html`<textarea
      id=${idOf(place)}
      class=${field.kind === "json" ? "mono" : ""}
      rows="4"
      spellcheck="false"
      placeholder=${field.kind === "json" ? "JSON" : shared.placeholder}
      aria-invalid=${shared.invalid}
      aria-describedby=${aboutOf(place)}
      .value=${live(words)}
      @input=${(event: Event) => place.set(valueOf(event))}
    ></textarea>`;
  }
  return html`<input
    id=${idOf(place)}
    type="text"
    inputmode=${field.kind === "number" ? "decimal" : "text"}
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
    placeholder=${shared.placeholder}
    aria-invalid=${shared.invalid}
    aria-required=${place.required}
    aria-describedby=${aboutOf(place)}
    .value=${live(words)}
    @input=${(event: Event) => place.set(valueOf(event))}
  />`;
}

function drawSelect(
  place: Place,
  words: string,
  options: readonly (readonly [value: string, label: string])[],
): TemplateResult {
  return html`
    <select
      id=${idOf(place)}
      aria-invalid=${place.issues.has(place.path)}
      aria-describedby=${aboutOf(place)}
      .value=${live(words)}
      @change=${(event: Event) => place.set(valueOf(event))}
    >
      <option value="">${place.required ? "choose …" : `not set${presetWords(place.schema)}`}</option>
      ${options.map(([value, label]) => html`<option value=${value} ?selected=${words === value}>${label}</option>`)}
    </select>
  `;
}

function drawLabel({ label, required, schema }: Place): TemplateResult {
  return html`<span class="label">${label}</span>
    <span class="quiet">${kindWords(schema)}${required ? "" : ", optional"}</span>`;
}

function drawDescription(place: Place): TemplateResult | typeof nothing {
  const words = describeSchema(place.schema);
  return words === undefined ? nothing : html`<span class="about" id=${`about:${place.path}`}>${words}</span>`;
}

function drawIssue(place: Place): TemplateResult | typeof nothing {
  const message = place.issues.get(place.path);
  return message === undefined
    ? nothing
    : html`<span class="issue" id=${`issue:${place.path}`} role="alert">${message}</span>`;
}

function kindWords(schema: Schema): string {
  const field = fieldOf(schema);
  if (field.kind === "number") return rangeWords(schema);
  if (field.kind === "choice") return "one of";
  if (field.kind === "variants") return "in one of several forms";
  return field.kind === "boolean" ? "yes or no" : field.kind;
}

function rangeWords({ type, minimum, maximum }: Schema): string {
  const what = type === "integer" ? "whole number" : "number";
  if (typeof minimum !== "number") return typeof maximum === "number" ? `${what} up to ${maximum}` : what;
  return typeof maximum === "number" ? `${what} ${minimum} to ${maximum}` : `${what} from ${minimum}`;
}

function presetOf(schema: Schema): string {
  return schema["default"] === undefined ? "" : `default: ${JSON.stringify(schema["default"])}`;
}

function presetWords(schema: Schema): string {
  return schema["default"] === undefined ? "" : ` (default: ${JSON.stringify(schema["default"])})`;
}

const idOf = ({ path }: Place): string => `field:${path}`;
const aboutOf = ({ path }: Place): string => `about:${path} issue:${path}`;
const valueOf = (event: Event): string => (event.target as HTMLInputElement).value;
