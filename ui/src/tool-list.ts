// Sorts the tools of a catalog: what stands in their way, which words they match, which group they belong to.
import type { CatalogTool } from "./wire.ts";

export const toolStatuses = ["allowed", "blocked", "not available"] as const;
export type ToolStatus = (typeof toolStatuses)[number];

/** Policy comes first: a tool that is blocked stays blocked, whether or not it could run. */
export function toolStatus({ allowed, built, available }: CatalogTool): ToolStatus {
  if (!allowed) return "blocked";
  return built && available ? "allowed" : "not available";
}

export function filterTools(tools: readonly CatalogTool[], words: string, status: ToolStatus | "all"): CatalogTool[] {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return tools.filter((tool) => {
    if (status !== "all" && toolStatus(tool) !== status) return false;
    const text = `${tool.name} ${tool.summary} ${tool.group ?? ""} ${tool.source ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Groups in the order in which they first appear; tools without one come last. */
export function groupTools(tools: readonly CatalogTool[]): { readonly group: string; readonly tools: CatalogTool[] }[] {
  const groups = Map.groupBy(tools, ({ group }) => group ?? "");
  const named = [...groups]
    .filter(([group]) => group !== "")
    .map(([group, members]) => ({ group: toGroupName(group), tools: members }));
  const rest = groups.get("");
  return rest === undefined ? named : [...named, { group: "ungrouped", tools: rest }];
}

function toGroupName(group: string): string {
  return group.startsWith("group:") ? group : `group:${group}`;
}
