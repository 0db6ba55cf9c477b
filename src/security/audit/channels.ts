// Who may talk to the agents from chats.
import { isRecord } from "../../core/record.ts";
import { type ConfigPath } from "../../config/path.ts";
import { at, listWithout, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";

/** A channel, or one account of it, with the keys that hold there. */
interface Scope {
  readonly channel: string;
  readonly path: ConfigPath;
  readonly keys: Readonly<Record<string, unknown>>;
}

export function checkChannels(ground: Ground): Finding[] {
  return [
    ...scopesOf(ground).flatMap((scope) => [
      ...directFindings(ground, scope),
      ...groupFindings(ground, scope),
      ...nameFindings(ground, scope),
      ...webhookFindings(ground, scope),
    ]),
    ...sharedSession(ground),
  ];
}

/** Places through which people nobody chose can reach an agent. */
export function openDoors(ground: Ground): { readonly path: ConfigPath | string }[] {
  return scopesOf(ground)
    .flatMap((scope) => [...directFindings(ground, scope), ...groupFindings(ground, scope)])
    .filter(({ id }) => id === "channels.open-dm" || id === "channels.open-groups")
    .map(({ where }) => ({ path: where.path ?? "channels" }));
}

function scopesOf({ loaded }: Ground): Scope[] {
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

function directFindings(ground: Ground, { channel, path, keys }: Scope): Finding[] {
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
        what: `anybody on ${channel} may write to the agent directly`,
        why: "anyone can then decide what your agent reads and does",
        where: at(ground, key),
        fix: policy === "open" ? `${setKey(policyPath, "pairing")} && ${unsetKey(peoplePath)}` : unsetKey(peoplePath),
      },
    ];
  });
}

function groupFindings(ground: Ground, { channel, path, keys }: Scope): Finding[] {
  const found: Finding[] = [];
  if (keys["groupPolicy"] === "open")
    found.push({
      id: "channels.open-groups",
      weight: "high",
      what:
        channel === "defaults"
          ? "any group on any channel may talk to the agent"
          : `any group on ${channel} may talk to the agent`,
      why: "whoever adds it to a group may use it",
      where: at(ground, [...path, "groupPolicy"]),
      fix: setKey([...path, "groupPolicy"], "allowlist"),
    });
  const people = keys["groupAllowFrom"];
  if (Array.isArray(people) && people.includes("*"))
    found.push({
      id: "channels.anyone-in-groups",
      weight: "medium",
      what: `everybody in the groups of ${channel} may talk to the agent`,
      why: "members come and go; the list of those you trust should not",
      where: at(ground, [...path, "groupAllowFrom"]),
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
        what: `on ${channel} the agent answers every message of groups nobody listed`,
        why: "text meant for others, or planted for it, reaches it unasked",
        where: at(ground, [...path, kind, "*", "requireMention"]),
        fix: unsetKey([...path, kind, "*", "requireMention"]),
      });
  }
  return found;
}

/** Names can be given up and taken by somebody else; ids cannot. */
function nameFindings(ground: Ground, { channel, path, keys }: Scope): Finding[] {
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
        what: `${channel} lets people in by name: ${names.slice(0, 4).join(", ")}`,
        why: "a name can be changed and taken by somebody else; an id cannot",
        where: at(ground, key),
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

function webhookFindings(ground: Ground, { channel, path, keys }: Scope): Finding[] {
  const secret = keys["webhookSecret"];
  if (typeof keys["webhookUrl"] !== "string" || (typeof secret === "string" && secret !== "")) return [];
  return [
    {
      id: "channels.open-webhook",
      weight: "high",
      what: `updates of ${channel} arrive at a public address without a secret`,
      why: "anybody who finds the address can send messages in anybody's name",
      where: at(ground, [...path, "webhookUrl"]),
      fix: setKey([...path, "webhookSecret"], "$(openssl rand -hex 24)"),
    },
  ];
}

function sharedSession(ground: Ground): Finding[] {
  const { session } = ground.loaded.config;
  if ((session?.dmScope ?? "main") !== "main") return [];
  const many = scopesOf(ground).some(
    ({ keys }) => Array.isArray(keys["allowFrom"]) && new Set(keys["allowFrom"]).size > 1,
  );
  if (!many && openDoors(ground).length === 0) return [];
  return [
    {
      id: "channels.shared-session",
      weight: "medium",
      what: "several people may write directly, and all their chats are one session (session.dmScope=main)",
      why: "each can ask what the others said",
      where: at(ground, "session.dmScope"),
      fix: setKey("session.dmScope", "per-channel-peer"),
    },
  ];
}
