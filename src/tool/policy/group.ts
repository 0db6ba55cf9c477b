// Finds the tool policy of a group chat: the most specific entry that has one.
import { isRecord } from "../../core/record.ts";
import { getAt } from "../../config/path.ts";
import { foldCase } from "./groups.ts";
import { under } from "./path.ts";
import type { GroupContext, PolicyConfig, ToolLists } from "./shape.ts";

export interface GroupPolicy {
  readonly path: string;
  readonly lists: ToolLists;
}

interface Node {
  readonly path: string;
  readonly value: object;
}

/** Undefined when no entry exists for this group, its parents or `"*"`. A sender's entry replaces `tools`; it does not merge. */
export function groupPolicy(config: PolicyConfig, room: GroupContext): GroupPolicy | undefined {
  const senders = [...room.senderIds.map((id) => senderKey(id, room.channel)), "*"];
  for (const node of nodesOf(config, room)) {
    const bySender = child(node, "toolsBySender");
    const own = bySender && find(bySender, senders, (key) => senderKey(key, room.channel));
    const policy = own ?? child(node, "tools");
    if (policy !== undefined) return { path: policy.path, lists: policy.value };
  }
  return undefined;
}

/** Every entry that applies to the group, most specific first. */
function nodesOf(config: PolicyConfig, room: GroupContext): Node[] {
  const channels: Node = { path: "channels", value: config.channels ?? {} };
  const channel = find(channels, [foldCase(room.channel)]);
  if (channel === undefined) return [];
  const rooms = [room.groupId, room.parentId].filter((id) => id !== undefined).map(foldCase);
  return [
    ...spaces(channel, "guilds", room, room.guildId, rooms),
    ...spaces(channel, "teams", room, room.teamId, rooms),
    ...inside(map(channel, "channels", room), rooms),
    ...inside(map(channel, "groups", room), rooms).flatMap((group) => [
      ...inside(child(group, "topics"), topicsOf(room)),
      group,
    ]),
  ];
}

/**
 * Guilds and teams: their channels first, then the space itself, then the space `"*"`. A caller that knows only the
 * group id gets the space that lists it, because group ids are unique on such platforms.
 */
function spaces(
  channel: Node,
  key: string,
  room: GroupContext,
  id: string | undefined,
  rooms: readonly string[],
): Node[] {
  const all = map(channel, key, room);
  if (all === undefined) return [];
  const known = id === undefined ? spacesWith(all, rooms) : [foldCase(id)];
  return inside(all, known).flatMap((space) => [...inside(child(space, "channels"), rooms), space]);
}

function spacesWith(all: Node, rooms: readonly string[]): string[] {
  return Object.keys(all.value).flatMap((key) => {
    const channels = key === "*" ? undefined : child(child(all, key) ?? all, "channels");
    return channels !== undefined && find(channels, rooms) !== undefined ? [foldCase(key)] : [];
  });
}

/** An account's own map replaces the channel's. */
function map(channel: Node, key: string, { accountId }: GroupContext): Node | undefined {
  const accounts = accountId === undefined ? undefined : child(channel, "accounts");
  const account = accounts && find(accounts, [foldCase(accountId ?? "")]);
  return (account && child(account, key)) ?? child(channel, key);
}

/** The entries for the ids in their order, then the default `"*"`. */
function inside(map: Node | undefined, ids: readonly string[]): Node[] {
  if (map === undefined) return [];
  return [...ids, "*"].map((id) => find(map, [id])).filter((node) => node !== undefined);
}

function topicsOf({ topicId }: GroupContext): string[] {
  return topicId === undefined ? [] : [foldCase(topicId)];
}

/** The entry under the first of the wanted names that exists; ids are compared without case. */
function find(map: Node, wanted: readonly string[], fold: (key: string) => string = foldCase): Node | undefined {
  const keys = new Map(
    Object.keys(map.value)
      .toReversed()
      .map((key) => [fold(key), key]),
  );
  for (const name of wanted) {
    const key = keys.get(name);
    const node = key === undefined ? undefined : child(map, key);
    if (node !== undefined) return node;
  }
  return undefined;
}

function child(node: Node, key: string): Node | undefined {
  const value = getAt(node.value, [key]);
  return isRecord(value) ? { path: under(node.path, key), value } : undefined;
}

/** `telegram:4242` and `4242` are the same sender on Telegram. */
function senderKey(id: string, channel: string): string {
  const plain = foldCase(id);
  const prefix = `${foldCase(channel)}:`;
  return plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}
