// Sessions as MCP resources (session:///key), for users whose policy allows sessions_list and sessions_history.
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import type { McpUser, Resource, ResourceProvider } from "./registry.ts";

const SCHEME = "session:///";
const TEMPLATE = `${SCHEME}{key}`;

export const sessionResources: ResourceProvider = {
  async list(user) {
    if (!user.allows("sessions_history")) return [];
    return (await visibleKeys(user)).map((key): Resource => ({
      uri: SCHEME + encodeURIComponent(key),
      name: key,
      description: "Messages of a session",
      mimeType: "application/json",
    }));
  },
  templates: (user) =>
    user.allows("sessions_history")
      ? [
          {
            uriTemplate: TEMPLATE,
            name: "session",
            description: "The most recent messages of a session by its key.",
            mimeType: "application/json",
          },
        ]
      : [],
  async read(uri, user) {
    const sessionKey = keyOf(uri);
    if (sessionKey === undefined || !user.allows("sessions_history")) return undefined;
    try {
      const { details } = await user.call("sessions_history", { sessionKey, limit: 200 });
      return [{ uri, mimeType: "application/json", text: JSON.stringify(details) }];
    } catch (error) {
      if (error instanceof OpenClawError && error.code === "session.unknown") return undefined;
      throw error;
    }
  },
  async complete(template, argument, value, user) {
    if (template !== TEMPLATE || argument !== "key" || !user.allows("sessions_history")) return [];
    return (await visibleKeys(user)).filter((key) => key.startsWith(value));
  },
};

async function visibleKeys(user: McpUser): Promise<string[]> {
  if (!user.allows("sessions_list")) return [];
  const { details } = await user.call("sessions_list", { limit: 200 });
  const rows = isRecord(details) && Array.isArray(details["sessions"]) ? (details["sessions"] as unknown[]) : [];
  return rows.flatMap((row) => (isRecord(row) && typeof row["key"] === "string" ? [row["key"]] : []));
}

function keyOf(uri: string): string | undefined {
  if (!uri.startsWith(SCHEME) || uri.length === SCHEME.length) return undefined;
  try {
    return decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    return undefined; // not percent-encoded text: no session of ours
  }
}
