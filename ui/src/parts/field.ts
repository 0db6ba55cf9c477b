// Draws one field of a schema form, and the fields inside it.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import { memberPath } from "../form/check.ts";
import { emptyDraft, entriesOf, membersOf, variantOf, draftText, type Draft } from "../form/draft.ts";
import { describeSchema, fieldOf, isAlias, variantLabel, type Field, type Member, type Schema } from "../form/field.ts";

export interface FieldContext {
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

export function drawField(context: FieldContext): TemplateResult {
  const field = fieldOf(context.schema, context.name);
  if (field.kind === "object") return drawGroup(context, drawMembers(context, field));
  if (field.kind === "list") return drawGroup(context, drawEntries(context, field));
  if (field.kind === "variants") return drawGroup(context, drawVariants(context, field));
  return drawRow(context, field);
}

export function drawMembers(context: FieldContext, field: Extract<Field, { kind: "object" }>): TemplateResult {
  const drafts = membersOf(context.draft);
  const draw = ({ name, schema, required }: Member): TemplateResult =>
    drawField({
      ...context,
      schema,
      required,
      name,
      label: name,
      path: memberPath(context.path, name),
      draft: drafts[name] ?? emptyDraft(fieldOf(schema, name)),
      set: (draft) => context.set({ members: { ...drafts, [name]: draft } }),
    });
  const others = field.members.filter((member) => isAlias(member, field.members));
  const own = field.members.filter((member) => !others.includes(member));
  return html`
    ${own.map(draw)}
    ${
      others.length === 0
        ? nothing
        : html`<details class="more">
            <summary>Aliases</summary>
            <div class="schema-form">${others.map(draw)}</div>
          </details>`
    }
  `;
}

function drawGroup(context: FieldContext, inside: TemplateResult): TemplateResult {
  return html`
    <fieldset class="group">
      <legend>${drawLabel(context)}</legend>
      ${drawDescription(context)} ${drawIssue(context)} ${inside}
    </fieldset>
  `;
}

function drawEntries(context: FieldContext, field: Extract<Field, { kind: "list" }>): TemplateResult {
  const entries = entriesOf(context.draft);
  const itemField = fieldOf(field.item);
  return html`
    ${entries.map(
      (draft, index) => html`
        <div class="entry">
          ${drawField({
            ...context,
            schema: field.item,
            draft,
            required: true,
            name: "",
            label: `${field.itemName === "" ? "entry" : field.itemName} ${index + 1}`,
            path: `${context.path}/${index}`,
            set: (next) => context.set(entries.with(index, next)),
          })}
          <button
            class="button small"
            type="button"
            aria-label=${`Remove entry ${index + 1} of ${context.label}`}
            @click=${() => context.set(entries.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      `,
    )}
    <button class="button small" type="button" @click=${() => context.set([...entries, emptyDraft(itemField)])}>
      Add to ${context.label}
    </button>
  `;
}

function drawVariants(context: FieldContext, field: Extract<Field, { kind: "variants" }>): TemplateResult {
  const { pick, draft } = variantOf(context.draft);
  const schema = pick === "" ? undefined : field.variants[Number(pick)];
  const choose = (next: string): void => {
    const variant = field.variants[Number(next)];
    context.set({
      pick: next,
      draft: next === "" || variant === undefined ? "" : emptyDraft(fieldOf(variant, context.name)),
    });
  };
  return html`
    <select
      id=${idOf(context)}
      aria-label=${`Form of ${context.label}`}
      .value=${live(pick)}
      @change=${(event: Event) => choose(valueOf(event))}
    >
      <option value="">${context.required ? "select …" : "not set"}</option>
      ${field.variants.map((variant, index) => html`<option value=${index} ?selected=${pick === String(index)}>${variantLabel(variant)}</option>`)}
    </select>
    ${
      schema === undefined
        ? nothing
        : drawField({
            ...context,
            schema,
            draft,
            required: true,
            label: variantLabel(schema),
            set: (next) => context.set({ pick, draft: next }),
          })
    }
  `;
}

function drawRow(context: FieldContext, field: Field): TemplateResult {
  return html`
    <div class="field">
      <label for=${idOf(context)}>${drawLabel(context)}</label>
      ${drawDescription(context)} ${drawInput(context, field)} ${drawIssue(context)}
    </div>
  `;
}

function drawInput(context: FieldContext, field: Field): TemplateResult {
  const text = draftText(context.draft);
  if (field.kind === "boolean")
    return drawSelect(context, text, [
      ["true", "yes"],
      ["false", "no"],
    ]);
  if (field.kind === "choice")
    return drawSelect(
      context,
      text,
      field.options.map(({ label }, index) => [String(index), label] as const),
    );
  const isLong = field.kind === "json" || (field.kind === "text" && field.multiline);
  const shared = { placeholder: defaultPlaceholder(context.schema), invalid: context.issues.has(context.path) };
  if (isLong) {
    return html`<textarea
      id=${idOf(context)}
      class=${field.kind === "json" ? "mono" : ""}
      rows="4"
      spellcheck="false"
      placeholder=${field.kind === "json" ? "JSON" : shared.placeholder}
      aria-invalid=${shared.invalid}
      aria-describedby=${aboutOf(context)}
      .value=${live(text)}
      @input=${(event: Event) => context.set(valueOf(event))}
    ></textarea>`;
  }
  return html`<input
    id=${idOf(context)}
    type="text"
    inputmode=${field.kind === "number" ? "decimal" : "text"}
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
    placeholder=${shared.placeholder}
    aria-invalid=${shared.invalid}
    aria-required=${context.required}
    aria-describedby=${aboutOf(context)}
    .value=${live(text)}
    @input=${(event: Event) => context.set(valueOf(event))}
  />`;
}

function drawSelect(
  context: FieldContext,
  text: string,
  options: readonly (readonly [value: string, label: string])[],
): TemplateResult {
  return html`
    <select
      id=${idOf(context)}
      aria-invalid=${context.issues.has(context.path)}
      aria-describedby=${aboutOf(context)}
      .value=${live(text)}
      @change=${(event: Event) => context.set(valueOf(event))}
    >
      <option value="">${context.required ? "select …" : `not set${defaultSuffix(context.schema)}`}</option>
      ${options.map(([value, label]) => html`<option value=${value} ?selected=${text === value}>${label}</option>`)}
    </select>
  `;
}

function drawLabel({ label, required, schema }: FieldContext): TemplateResult {
  return html`<span class="label">${label}</span>
    <span class="quiet">${describeKind(schema)}${required ? "" : ", optional"}</span>`;
}

function drawDescription(context: FieldContext): TemplateResult | typeof nothing {
  const text = describeSchema(context.schema);
  return text === undefined ? nothing : html`<span class="about" id=${`about:${context.path}`}>${text}</span>`;
}

function drawIssue(context: FieldContext): TemplateResult | typeof nothing {
  const message = context.issues.get(context.path);
  return message === undefined
    ? nothing
    : html`<span class="issue" id=${`issue:${context.path}`} role="alert">${message}</span>`;
}

function describeKind(schema: Schema): string {
  const field = fieldOf(schema);
  if (field.kind === "number") return describeRange(schema);
  if (field.kind === "choice") return "one of";
  if (field.kind === "variants") return "one of several forms";
  return field.kind === "boolean" ? "yes or no" : field.kind;
}

function describeRange({ type, minimum, maximum }: Schema): string {
  const what = type === "integer" ? "whole number" : "number";
  if (typeof minimum !== "number") return typeof maximum === "number" ? `${what}, at most ${maximum}` : what;
  return typeof maximum === "number" ? `${what} ${minimum} to ${maximum}` : `${what}, at least ${minimum}`;
}

function defaultPlaceholder(schema: Schema): string {
  return schema["default"] === undefined ? "" : `default: ${JSON.stringify(schema["default"])}`;
}

function defaultSuffix(schema: Schema): string {
  return schema["default"] === undefined ? "" : ` (default: ${JSON.stringify(schema["default"])})`;
}

const idOf = ({ path }: FieldContext): string => `field:${path}`;
const aboutOf = ({ path }: FieldContext): string => `about:${path} issue:${path}`;
const valueOf = (event: Event): string => (event.target as HTMLInputElement).value;
