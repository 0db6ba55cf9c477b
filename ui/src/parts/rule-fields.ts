// The four rules of an approvals file for one scope, each with the value that applies when it is not set.
import { html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import { visible } from "../../../src/core/visible.ts";
import { inheritedOf, levels, valueOf, ruleText, type Level, type RuleKey, type RulesFile } from "../nodes/rules.ts";

interface RuleForm {
  readonly file: RulesFile;
  readonly scope: string;
  readonly isBusy: boolean;
  /** An empty text removes the rule. */
  readonly set: (key: RuleKey, text: string) => void;
}

interface Field {
  readonly key: RuleKey;
  readonly label: string;
  readonly about: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function drawRules(form: RuleForm): readonly TemplateResult[] {
  const { file, scope } = form;
  const level = (key: Level, label: string, about: string): Field => ({
    key,
    label,
    about,
    options: levelOptions(key, valueOf(file, scope, key)),
  });
  const fields: readonly Field[] = [
    level("security", "Security", "Which commands may run."),
    level("ask", "Ask", "When you are asked for approval."),
    level("askFallback", "Ask fallback", "What applies when the question cannot be answered."),
    {
      key: "autoAllowSkills",
      label: "Auto-allow skill CLIs",
      about: "Programs of installed skills count as allowlisted.",
      options: ["yes", "no"].map((word) => ({ value: word, label: word })),
    },
  ];
  return fields.map((field) => drawField(form, field));
}

/** An unknown value stays selectable, because it is in the file. */
function levelOptions(key: Level, value: unknown): Field["options"] {
  const known: readonly string[] = levels[key];
  const unlisted = typeof value === "string" && !known.includes(value) ? [value] : [];
  return [
    ...known.map((word) => ({ value: word, label: word })),
    ...unlisted.map((word) => ({ value: word, label: `${visible(word, 40)} (unknown, treated as the strictest)` })),
  ];
}

function drawField({ file, scope, isBusy, set }: RuleForm, { key, label, about, options }: Field): TemplateResult {
  const stored = valueOf(file, scope, key);
  const value = stored === undefined ? "" : ruleText(stored);
  const inherited = inheritedOf(file, scope, key);
  return html`
    <div class="field">
      <label for=${`rules-${key}`}><span class="label">${label}</span></label>
      <span class="about" id=${`rules-${key}-about`}>${about}</span>
      <select
        id=${`rules-${key}`}
        aria-describedby=${`rules-${key}-about`}
        ?disabled=${isBusy}
        .value=${live(value)}
        @change=${(event: Event) => set(key, (event.target as HTMLSelectElement).value)}
      >
        <option value="" ?selected=${value === ""}>
          Not set: ${visible(inherited.value, 40)}${inherited.from === "built in" ? "" : ` (from ${inherited.from})`}
        </option>
        ${options.map((option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`)}
      </select>
    </div>
  `;
}
