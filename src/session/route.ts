// Where a session's replies are delivered on a chat platform.
import type { Route } from "../channel/outbound.ts";
import type { SessionRecord } from "../store/store.ts";
import { entryOf } from "./session.ts";

/** The gateway's own clients read the session itself. */
const inside: ReadonlySet<string> = new Set(["webchat", "internal", "unknown"]);

/** Undefined when no chat platform is attached to the session. */
export function routeOf(record: SessionRecord | undefined): Route | undefined {
  if (record === undefined) return undefined;
  const entry = entryOf(record);
  const { channel, to, accountId, threadId } = textsIn(entry.deliveryContext);
  const name = channel ?? entry.lastChannel;
  const place = to ?? entry.lastTo;
  if (name === undefined || inside.has(name)) return undefined;
  return {
    channel: name,
    ...(place === undefined ? {} : { to: place }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

function textsIn(value: unknown): { readonly [name: string]: string | undefined } {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, word]) =>
      typeof word === "string" || typeof word === "number" ? [[name, String(word)]] : [],
    ),
  );
}
