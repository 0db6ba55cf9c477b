// Prints a tree for a model: one line per element or text, with its reference.
import { scalarText } from "../../core/record.ts";
import type { References } from "../references.ts";
import { plain, quote } from "./text.ts";
import { childrenOf, type AriaNode } from "./tree.ts";

export interface Line {
  readonly depth: number;
  /** Without indentation. */
  readonly text: string;
  readonly number?: number | undefined;
  readonly native?: string | undefined;
  readonly role?: string | undefined;
  /** Filled in by folding: how many lines are left out here. */
  readonly folded?: number;
}

export type Style = "ai" | "role" | "native";

export interface RenderOptions {
  readonly style: Style;
  /** Only elements that can be used, as a flat list. */
  readonly interactive?: boolean;
  /** Without structural elements that say nothing. */
  readonly compact?: boolean;
  readonly depth?: number | undefined;
}

const interactiveRoles = new Set(
  "button link textbox searchbox checkbox radio combobox listbox option menuitem menuitemcheckbox menuitemradio slider spinbutton switch tab treeitem".split(
    " ",
  ),
);
const structuralRoles = new Set(
  "generic group list table rowgroup row none presentation region section document".split(" "),
);
const states = ["checked", "disabled", "expanded", "pressed", "selected", "active", "invalid", "level"] as const;

export function isInteractive({ role, cursor }: AriaNode): boolean {
  return interactiveRoles.has(role) || cursor === "pointer";
}

export function renderTree(
  tree: readonly (AriaNode | string)[],
  references: References,
  options: RenderOptions,
): Line[] {
  const lines: Line[] = [];
  const walk = (nodes: readonly (AriaNode | string)[], depth: number, level: number): void => {
    for (const [index, raw] of nodes.entries()) {
      if (typeof raw === "string") {
        if (options.interactive !== true && !isLabel(raw, nodes[index - 1], nodes[index + 1]))
          lines.push({ depth, text: `text: ${quote(raw)}` });
        continue;
      }
      const node = options.style === "ai" ? withOwnText(raw) : raw;
      const isShown = shows(node, options);
      if (isShown) lines.push(lineOf(node, depth, references, options.style));
      const isFlat = options.interactive === true || !isShown;
      if (options.depth === undefined || level < options.depth)
        walk(childrenOf(node), isFlat ? depth : depth + 1, level + 1);
    }
  };
  walk(tree, 0, 0);
  return lines;
}

/** The text beside a checkbox or field is its name already. */
function isLabel(text: string, ...neighbors: readonly (AriaNode | string | undefined)[]): boolean {
  return neighbors.some((one) => typeof one === "object" && one.name !== undefined && one.name === text.trim());
}

/** An element whose only content is a text shows it on its own line. */
function withOwnText(node: AriaNode): AriaNode {
  const [child, ...others] = childrenOf(node);
  if (node.text !== undefined || child === undefined || typeof child === "string" || others.length > 0) return node;
  const isText = child.role === "generic" && child.name === undefined && child.cursor === node.cursor;
  if (!isText || child.text === undefined || childrenOf(child).length > 0) return node;
  return { ...node, text: child.text, children: [] };
}

function shows(node: AriaNode, { style, interactive = false, compact = false }: RenderOptions): boolean {
  if (interactive) return isInteractive(node) && (node.ref !== undefined || node.role === "option");
  const isEmpty = node.name === undefined && node.text === undefined && node.cursor !== "pointer";
  if (style === "ai") return !(isEmpty && (node.role === "generic" || node.role === "rowgroup"));
  return !(compact && isEmpty && structuralRoles.has(node.role));
}

function lineOf(node: AriaNode, depth: number, references: References, style: Style): Line {
  const { role, name, ref, text, url, placeholder, cursor } = node;
  const number = ref === undefined ? undefined : references.numberOf(ref);
  const parts: string[] = [];
  const isText = style === "ai" && role === "generic";
  if (isText) parts.push(cursor === "pointer" ? "clickable" : "text");
  else parts.push(role);
  if (name !== undefined && name !== "") parts.push(quote(name));
  if (number !== undefined) parts.push(refText(number, ref ?? "", references, style));
  for (const state of states) {
    const value = node[state];
    if (value === true) parts.push(`[${state}]`);
    else if (value !== undefined && value !== false) parts.push(`[${state}=${plain(scalarText(value), 40)}]`);
  }
  if (style !== "ai" && cursor === "pointer") parts.push("[cursor=pointer]");
  if (typeof placeholder === "string") parts.push(`[placeholder=${quote(placeholder, 120)}]`);
  if (style !== "ai" && typeof url === "string") parts.push(`[url=${quote(url, 300)}]`);
  const value = text === undefined || text === "" ? "" : `: ${quote(text)}`;
  return { depth, text: parts.join(" ") + value, number, native: ref, role };
}

function refText(number: number, native: string, references: References, style: Style): string {
  if (style === "ai") return `[${number}]`;
  const { nth = 0, equals = 1 } = references.get(number) ?? {};
  const name = style === "native" ? native : `e${number}`;
  return `[ref=${name}]${equals > 1 && nth > 0 ? ` [nth=${nth}]` : ""}`;
}

/** AI snapshots save the dash and half of the indentation: a model pays for each character. */
export function printLine({ depth, text }: Line, style: Style): string {
  return style === "ai" ? " ".repeat(depth) + text : `${"  ".repeat(depth)}- ${text}`;
}
