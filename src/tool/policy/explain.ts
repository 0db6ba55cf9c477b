// Explains a decision: every layer in order, the deciding rule with file and line, and the edit that changes it.
import { commandText, configText } from "./edit-text.ts";
import type { Decision, Fix, LayerName, LayerVerdict } from "./shape.ts";
import type { ToolPlace } from "../tool.ts";
import { lineWidth, short, shortEnd, wrapped } from "./safe-text.ts";

export interface ExplainContext {
  /** Where a config path is written, if the config loader knows. */
  readonly locate?: ((path: string) => { readonly file: string; readonly line: number } | undefined) | undefined;
  /** Who the decision is for: agent, session, model, chat … */
  readonly subject?: Readonly<Record<string, string>> | undefined;
  /** Why an allowed tool still cannot be used here. */
  readonly unavailable?: { readonly reason: string; readonly fix: string } | undefined;
  /** Where an allowed call acts, and under which further rules. */
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
  subagent: "9  subagent",
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
    // For a tool that is allowed but not available, showing how to deny it would mislead.
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
    ...wrapped(`${short(tool, 64)}: ${allowed ? answer : "blocked"}`, ""),
    ...(facts.length === 0 ? [] : wrapped(`for ${facts.join(", ")}`, "  ")),
    ...(unavailable === undefined
      ? []
      : wrapped(`${unavailable.reason} (fix: ${unavailable.fix})`, "  Not available: ")),
  ];
}

function deciding({ decidedBy, allowed }: Decision, context: ExplainContext): string[] {
  if (decidedBy === undefined) return allowed ? ["  Every layer allows it."] : [];
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

/** Built-in rules and the limit of a call are not in a config file. */
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
  if (!printable) return [...summary, "  (its entries are too long to show; use --json)"];
  return [...summary, "  in the config:", ...indented(config), "  or run:", ...indented(commands)];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
