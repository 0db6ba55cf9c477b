// The table of core tools with policy groups, profiles and old names, including tools that are not built yet.
import type { Profile } from "./shape.ts";

/** Group of each core tool; undefined for the two that are in none. */
export const coreTools: ReadonlyMap<string, string | undefined> = new Map([
  ["read", "fs"],
  ["write", "fs"],
  ["edit", "fs"],
  ["apply_patch", "fs"],
  ["exec", "runtime"],
  ["process", "runtime"],
  ["sessions_list", "sessions"],
  ["sessions_history", "sessions"],
  ["sessions_send", "sessions"],
  ["sessions_spawn", "sessions"],
  ["session_status", "sessions"],
  ["memory_search", "memory"],
  ["memory_get", "memory"],
  ["web_search", "web"],
  ["web_fetch", "web"],
  ["browser", "ui"],
  ["canvas", "ui"],
  ["cron", "automation"],
  ["gateway", "automation"],
  ["message", "messaging"],
  ["nodes", "nodes"],
  ["image", undefined],
  ["agents_list", undefined],
]);

/** Old names of tools, accepted everywhere. */
export const toolAliases: ReadonlyMap<string, string> = new Map([
  ["bash", "exec"],
  ["apply-patch", "apply_patch"],
]);

export const pluginsGroup = "group:plugins";

/** All tools of MCP servers. */
export const mcpGroup = "group:mcp";

/** Finds and calls tools of MCP servers when there are many; it passes a list wherever one of those tools passes. */
export const mcpSearchTool = "mcp_tools";

/** Members by entry (`group:fs`). File and shell tools are not part of `group:openclaw`. */
export const coreGroups: ReadonlyMap<string, readonly string[]> = gatherGroups();

/** Core tools that published configs name by the plugin that provides them there, or by `group:plugins`. */
export const bundled: ReadonlyMap<string, readonly string[]> = new Map([
  ["memory-core", coreGroups.get("group:memory") ?? []],
]);

/** `full` restricts nothing, so it has no list. */
export const profiles: Readonly<Record<Exclude<Profile, "full">, readonly string[]>> = {
  minimal: ["session_status"],
  coding: ["group:fs", "group:runtime", "group:sessions", "group:memory", "image"],
  messaging: ["group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status"],
};

/** What a sandboxed session gets when the config sets no list. */
export const sandboxDefaults: { readonly allow: readonly string[]; readonly deny: readonly string[] } = {
  allow:
    "exec process read write edit apply_patch sessions_list sessions_history sessions_send sessions_spawn session_status".split(
      " ",
    ),
  deny: "browser canvas nodes cron discord gateway".split(" "),
};

/** Always denied for subagents; the config can add to it but not remove from it. */
export const subagentDeny: readonly string[] =
  "sessions_list sessions_history sessions_send sessions_spawn gateway agents_list whatsapp_login session_status cron memory_search memory_get".split(
    " ",
  );

/** The policy group of a core tool, without the `group:` prefix. */
export function groupOf(name: string): string | undefined {
  return coreTools.get(canonicalName(name));
}

/** Trimmed, lower case, old names folded: the form in which names are compared. */
export function canonicalName(name: string): string {
  const plain = foldCase(name);
  return toolAliases.get(plain) ?? plain;
}

/** Only A to Z are folded: `toLowerCase` would turn look-alikes such as the Kelvin sign into plain letters. */
export function foldCase(text: string): string {
  const plain = text.trim();
  return /[A-Z]/.test(plain) ? plain.replace(/[A-Z]+/g, (entries) => entries.toLowerCase()) : plain;
}

function gatherGroups(): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [tool, group] of coreTools) {
    if (group !== undefined) groups.set(`group:${group}`, [...(groups.get(`group:${group}`) ?? []), tool]);
  }
  const own = [...coreTools].flatMap(([tool, group]) => (group === "fs" || group === "runtime" ? [] : [tool]));
  return groups.set("group:openclaw", own).set("group:moltbot", own);
}
