// Checks who can talk to the agents from chats.
import { isRecord } from "../../core/record.ts";
import { type ConfigPath } from "../../config/path.ts";
import { at, listWithout, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";

/** A channel or one of its accounts, with the keys that apply to it. */
interface Scope {
  readonly channel: string;
  readonly path: ConfigPath;
  readonly keys: Readonly<Record<string, unknown>>;
}

export function checkChannels(context: AuditContext): Finding[] {
  return [
    ...scopesOf(context).flatMap((scope) => [
      ...directFindings(context, scope),
      ...groupFindings(context, scope),
      ...nameFindings(context, scope),
      ...webhookFindings(context, scope),
    ]),
    ...sharedSession(context),
  ];
}

/** Channels through which unknown senders can reach an agent. */
export function openChannels(context: AuditContext): { readonly path: ConfigPath | string }[] {
  return scopesOf(context)
    .flatMap((scope) => [...directFindings(context, scope), ...groupFindings(context, scope)])
    .filter(({ id }) => id === "channels.open-dm" || id === "channels.open-groups")
    .map(({ where }) => ({ path: where.path ?? "channels" }));
}

function scopesOf({ loaded }: AuditContext): Scope[] {
  const written = isRecord(loaded.parsed) && isRecord(loaded.parsed["channels"]) ? loaded.parsed["channels"] : {};
  return Object.entries(written).flatMap(([channel, keys]): Scope[] => {
    if (!isRecord(keys) || keys["enabled"] === false) return [];
    if (channel === "defaults") return [{ channel, path: ["channels", channel], keys }];
    const { accounts, ...shared } = keys;
    const own = Object.entries(isRecord(accounts) ? accounts : {}).flatMap(([id, account]): Scope[] =>
      isRecord(account) && account["enabled"] !== false
        ? [{ channel, path: ["channels", channel, "accounts", id], keys: account }]
        : [],
    );
    return [{ channel, path: ["channels", channel], keys: shared }, ...own];
  });
}

function directFindings(context: AuditContext, { channel, path, keys }: Scope): Finding[] {
  const dm = isRecord(keys["dm"]) ? keys["dm"] : {};
  const places: readonly (readonly [unknown, unknown, ConfigPath, ConfigPath])[] = [
    [keys["dmPolicy"], keys["allowFrom"], [...path, "dmPolicy"], [...path, "allowFrom"]],
    [dm["policy"], dm["allowFrom"], [...path, "dm", "policy"], [...path, "dm", "allowFrom"]],
  ];
  return places.flatMap(([policy, people, policyPath, peoplePath]): Finding[] => {
    const anyone = Array.isArray(people) && people.includes("*");
    if (policy !== "open" && !(anyone && policy !== "disabled")) return [];
    const key = policy === "open" ? policyPath : peoplePath;
    return [
      {
        id: "channels.open-dm",
        weight: "high",
        what: `anyone on ${channel} can write to the agent directly`,
        why: "any sender can then influence what your agent reads and does",
        where: at(context, key),
        fix: policy === "open" ? `${setKey(policyPath, "pairing")} && ${unsetKey(peoplePath)}` : unsetKey(peoplePath),
      },
    ];
  });
}

function groupFindings(context: AuditContext, { channel, path, keys }: Scope): Finding[] {
  const found: Finding[] = [];
  if (keys["groupPolicy"] === "open")
    found.push({
      id: "channels.open-groups",
      weight: "high",
      what:
        channel === "defaults"
          ? "any group on any channel can talk to the agent"
          : `any group on ${channel} can talk to the agent`,
      why: "whoever adds it to a group can use it",
      where: at(context, [...path, "groupPolicy"]),
      fix: setKey([...path, "groupPolicy"], "allowlist"),
    });
  const people = keys["groupAllowFrom"];
  if (Array.isArray(people) && people.includes("*"))
    found.push({
      id: "channels.anyone-in-groups",
      weight: "medium",
      what: `everyone in the groups of ${channel} can talk to the agent`,
      why: "group members change; the list of people you trust should not",
      where: at(context, [...path, "groupAllowFrom"]),
      fix: setKey(
        [...path, "groupAllowFrom"],
        listWithout(people, (one) => one === "*"),
      ),
    });
  for (const kind of ["groups", "guilds", "channels"]) {
    const others = isRecord(keys[kind]) ? keys[kind]["*"] : undefined;
    if (isRecord(others) && others["requireMention"] === false)
      found.push({
        id: "channels.no-mention",
        weight: "medium",
        what: `on ${channel} the agent answers every message in groups that are not listed`,
        why: "text for others, or text planted for the agent, reaches it without a mention",
        where: at(context, [...path, kind, "*", "requireMention"]),
        fix: unsetKey([...path, kind, "*", "requireMention"]),
      });
  }
  return found;
}

/** A name can be released and taken by another person; an id cannot. */
function nameFindings(context: AuditContext, { channel, path, keys }: Scope): Finding[] {
  const dm = isRecord(keys["dm"]) ? keys["dm"] : {};
  const lists: readonly (readonly [unknown, ConfigPath])[] = [
    [keys["allowFrom"], [...path, "allowFrom"]],
    [keys["groupAllowFrom"], [...path, "groupAllowFrom"]],
    [dm["allowFrom"], [...path, "dm", "allowFrom"]],
  ];
  return lists.flatMap(([people, key]) => {
    const list: readonly unknown[] = Array.isArray(people) ? people : [];
    const names = list.filter((one) => typeof one === "string" && isName(channel, one));
    if (names.length === 0) return [];
    return [
      {
        id: "channels.names",
        weight: "medium" as const,
        what: `${channel} admits people by name: ${names.slice(0, 4).join(", ")}`,
        why: "a name can be released and taken by another person; an id cannot",
        where: at(context, key),
        fix: setKey(
          key,
          listWithout(list, (one) => names.includes(one)),
        ),
      },
    ];
  });
}

function isName(channel: string, entry: string): boolean {
  if (entry === "*") return false;
  if (channel === "telegram") return entry.startsWith("@") || !/^-?\d+$/.test(entry.replace(/^(?:telegram|tg):/, ""));
  if (channel === "discord") return !/\d{15,}/.test(entry);
  if (channel === "slack") return !/^(?:slack:|user:)?[UW][A-Z0-9]{5,}$/i.test(entry);
  return false;
}

function webhookFindings(context: AuditContext, { channel, path, keys }: Scope): Finding[] {
  const secret = keys["webhookSecret"];
  if (typeof keys["webhookUrl"] !== "string" || (typeof secret === "string" && secret !== "")) return [];
  return [
    {
      id: "channels.open-webhook",
      weight: "high",
      what: `updates of ${channel} arrive at a public address without a secret`,
      why: "anyone who finds the address can send messages in any name",
      where: at(context, [...path, "webhookUrl"]),
      fix: setKey([...path, "webhookSecret"], "$(openssl rand -hex 24)"),
    },
  ];
}

function sharedSession(context: AuditContext): Finding[] {
  const { session } = context.loaded.config;
  if ((session?.dmScope ?? "main") !== "main") return [];
  const many = scopesOf(context).some(
    ({ keys }) => Array.isArray(keys["allowFrom"]) && new Set(keys["allowFrom"]).size > 1,
  );
  if (!many && openChannels(context).length === 0) return [];
  return [
    {
      id: "channels.shared-session",
      weight: "medium",
      what: "several people can write directly, and their chats share one session (session.dmScope=main)",
      why: "each of them can ask what the others wrote",
      where: at(context, "session.dmScope"),
      fix: setKey("session.dmScope", "per-channel-peer"),
    },
  ];
}
