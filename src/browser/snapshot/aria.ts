// The plain accessibility tree of Chromium, as a flat list for inspection.
import { scalarText } from "../../core/record.ts";
import type { Tab } from "../tab.ts";
import { plain } from "./text.ts";

export interface AxNode {
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  readonly value?: string;
  readonly description?: string;
  readonly backendDOMNodeId?: number;
  /** Names of states that hold, such as `focused`, or `level=2`. */
  readonly states?: readonly string[];
  readonly depth: number;
}

interface RawNode {
  readonly nodeId: string;
  readonly parentId?: string | undefined;
  readonly role?: { readonly value?: unknown } | undefined;
  readonly name?: { readonly value?: unknown } | undefined;
  readonly value?: { readonly value?: unknown } | undefined;
  readonly description?: { readonly value?: unknown } | undefined;
  readonly backendDOMNodeId?: number | undefined;
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[] | undefined;
}

export async function readAriaNodes({ cdp }: Tab, limit: number): Promise<AxNode[]> {
  const { nodes } = await cdp.send("Accessibility.getFullAXTree");
  const depths = new Map<string, number>();
  return (nodes as readonly RawNode[]).slice(0, limit).map((node, index) => {
    const depth = node.parentId === undefined ? 0 : (depths.get(node.parentId) ?? -1) + 1;
    depths.set(node.nodeId, depth);
    const value = textOf(node.value);
    const description = textOf(node.description);
    return {
      ref: `ax${index + 1}`,
      role: textOf(node.role) || "unknown",
      name: textOf(node.name),
      ...(value === "" ? {} : { value }),
      ...(description === "" ? {} : { description }),
      ...(node.backendDOMNodeId === undefined ? {} : { backendDOMNodeId: node.backendDOMNodeId }),
      ...statesOf(node),
      depth,
    };
  });
}

const known = new Set(
  "focused disabled readonly required multiline multiselectable checked expanded pressed selected level invalid".split(
    " ",
  ),
);

function statesOf({ properties = [] }: RawNode): Pick<AxNode, "states"> {
  const states = properties.flatMap(({ name, value: { value } }) => {
    if (!known.has(name) || value === false || value === "false" || value === undefined) return [];
    return [value === true || value === "true" ? name : `${name}=${plain(scalarText(value), 40)}`];
  });
  return states.length === 0 ? {} : { states };
}

function textOf(value: { readonly value?: unknown } | undefined): string {
  const text = value?.value;
  return typeof text === "string" || typeof text === "number" ? plain(String(text)) : "";
}
