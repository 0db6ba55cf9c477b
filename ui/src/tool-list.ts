// Filters and groups the tools of a catalog by policy status, search text and group.
import type { CatalogRow } from "../../src/protocol/methods/tools.ts";

export const toolStatuses = ["allowed", "blocked", "not available"] as const;
export type ToolStatus = (typeof toolStatuses)[number];

/** Policy comes first: a blocked tool is shown as blocked even when it is also not available. */
export function toolStatus({ allowed, built, available }: CatalogRow): ToolStatus {
  if (!allowed) return "blocked";
  return built && available ? "allowed" : "not available";
}

export function filterTools(tools: readonly CatalogRow[], query: string, status: ToolStatus | "all"): CatalogRow[] {
  const wanted = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return tools.filter((tool) => {
    if (status !== "all" && toolStatus(tool) !== status) return false;
    const text = `${tool.name} ${tool.summary} ${tool.group ?? ""} ${tool.source ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Groups keep the order in which they first appear; tools without a group come last. */
export function groupTools(tools: readonly CatalogRow[]): { readonly group: string; readonly tools: CatalogRow[] }[] {
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
