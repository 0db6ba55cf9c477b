// Explains a decision: every layer in order, the deciding rule with file and line, and the edit that changes it.
import { commandText, configText } from "./edit-text.ts";
import type { Decision, Fix, LayerName, LayerVerdict } from "./shape.ts";
import type { ToolPlace } from "../tool.ts";
import { lineWidth, short, shortEnd, wrapped } from "./wording.ts";

export interface ExplainContext {
  /** Where a config path is written, if the reader of the config knows. */
  readonly locate?: ((path: string) => { readonly file: string; readonly line: number } | undefined) | undefined;
  /** Who asked, as words: agent, session, model, chat … */
  readonly subject?: Readonly<Record<string, string>> | undefined;
  /** Policy may allow what the tool itself cannot do here. */
  readonly unavailable?: { readonly reason: string; readonly fix: string } | undefined;
  /** What a permitted call meets: where it acts, under which further rules. */
  readonly place?: ToolPlace | undefined;
}

const labels: Readonly<Record<LayerName, string>> = {
  known: "   known",
  optional: "   opt-in",
  profile: "1  profile",
  "provider-profile": "2  provider profile",
  global: "3  global lists",
  "global-provider": "4  provider lists",
  agent: "5  agent lists",
  "agent-provider": "6  agent provider",
  group: "7  group",
  sandbox: "8  sandbox",
  subagent: "9  sub-agent",
  limit: "   limit of the call",
};

/** Plain text for a terminal, an error's details or a log; no line is wider than 110. */
export function explainText(decision: Decision, context: ExplainContext = {}): string {
  return [
    ...heading(decision, context),
    ...deciding(decision, context),
    ...placeLines(decision, context),
    "",
    "Layers, in order:",
    ...decision.layers.flatMap((layer) => layerLines(layer, context)),
    // A tool that is allowed but not available is wanted: how to deny it would mislead.
    ...(context.unavailable === undefined ? fixLines(decision.fix) : []),
    ...(decision.warnings.length === 0
      ? []
      : ["", ...decision.warnings.flatMap((warning) => wrapped(warning, "Warning: "))]),
  ].join("\n");
}

function heading({ tool, allowed }: Decision, { subject = {}, unavailable }: ExplainContext): string[] {
  const answer = unavailable === undefined ? "allowed" : "allowed by policy, but not available";
  const facts = Object.entries(subject).map(([name, value]) => `${name} ${short(value, 80)}`);
  return [
    ...wrapped(`${short(tool, 64)}: ${allowed ? answer : "denied"}`, ""),
    ...(facts.length === 0 ? [] : wrapped(`for ${facts.join(", ")}`, "  ")),
    ...(unavailable === undefined
      ? []
      : wrapped(`${unavailable.reason} (fix: ${unavailable.fix})`, "  Not available: ")),
  ];
}

function deciding({ decidedBy, allowed }: Decision, context: ExplainContext): string[] {
  if (decidedBy === undefined) return allowed ? ["  No layer blocks it."] : [];
  const { layer, path, reason } = decidedBy;
  return wrapped(
    `${labels[layer].trim().replace(/^\d\s+/, "")}: ${reason}${place(layer, path, context)}`,
    "  Decided by ",
    "    ",
  );
}

function placeLines({ allowed }: Decision, { place }: ExplainContext): string[] {
  if (place === undefined) return [];
  const { summary, rules, caution } = place;
  return [
    "",
    ...wrapped(summary, allowed ? "A call runs: " : "If it were allowed, a call would run: ", "  "),
    ...rules.flatMap((rule) => wrapped(rule, "  - ", "    ")),
    ...(caution === undefined
      ? []
      : [...wrapped(caution.text, "  Caution: ", "    "), ...wrapped(caution.fix, "  To change that: ", "    ")]),
  ];
}

function layerLines({ layer, verdict, path, rule, note = "" }: LayerVerdict, context: ExplainContext): string[] {
  const lead = `  ${labels[layer].padEnd(21)}${(verdict === "block" ? "BLOCK" : verdict.replace("-", " ")).padEnd(16)}`;
  const where = rule?.path ?? path;
  const source = where === undefined ? "" : ` [${short(where, 60)}${place(layer, where, context)}]`;
  return wrapped(`${note}${source}`, lead);
}

/** Built-in rules and the limit of a call stand in no config file. */
function place(layer: LayerName, path: string, { locate }: ExplainContext): string {
  const found = layer === "limit" || path === "built-in" || path === "" ? undefined : locate?.(path);
  return found === undefined ? "" : `, ${shortEnd(found.file, 60)}:${found.line}`;
}

function fixLines(fix: Fix | undefined): string[] {
  if (fix === undefined) return [];
  const config = configText(fix.after);
  const commands = commandText(fix.after);
  const printable = [...config, ...commands].every((line) => line.length <= lineWidth - 4);
  const summary = ["", ...wrapped(fix.summary, "Smallest edit: ", "  ")];
  if (fix.edits.length === 0) return ["", ...wrapped(fix.summary, "")];
  if (!printable) return [...summary, "  (its entries are too long for this page; ask again with --json)"];
  return [...summary, "  in the config:", ...indented(config), "  or run:", ...indented(commands)];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
