// The tool policy of a group chat, for every way in which a channel nests its groups.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decide } from "./decide.ts";
import { subjectOf } from "./policy.cases.ts";
import { groupPolicy } from "./group.ts";
import type { GroupContext } from "./shape.ts";

const deny = (...names: string[]) => ({ deny: names });

const channels = {
  telegram: {
    groups: {
      "-100777": {
        tools: deny("exec"),
        toolsBySender: { "4242": deny("a"), "telegram:7": deny("b") },
        topics: { "5": { tools: deny("topic") }, "6": {} },
      },
      "-2": { requireMention: true },
      "*": { tools: deny("any"), toolsBySender: { "4242": deny("any-4242"), "*": deny("any-sender") } },
    },
    accounts: { work: { groups: { "-100777": { tools: deny("work") } } }, home: {} },
  },
  discord: {
    guilds: {
      "900": {
        tools: deny("guild"),
        channels: { "1": { tools: deny("channel") }, "2": {}, "*": { toolsBySender: { "77": deny("star-77") } } },
      },
      "*": { tools: deny("any-guild"), channels: { "1": { tools: deny("any-guild-1") } } },
    },
  },
  slack: { channels: { C0ABC: { tools: deny("abc") }, "*": { tools: deny("slack-any") } } },
  msteams: {
    teams: {
      T1: { toolsBySender: { "aad-1": deny("team-1") }, channels: { "19:x@thread.tacv2": { tools: deny("conv") } } },
    },
  },
  whatsapp: { groups: { "1203@g.us": { toolsBySender: { "+15550100": deny("phone") }, tools: deny("wa") } } },
  signal: {},
};

const at = (channel: string, groupId: string, other: Partial<GroupContext> = {}): GroupContext => ({
  channel,
  groupId,
  senderIds: [],
  ...other,
});

const telegram = "channels.telegram.groups";
const guild = "channels.discord.guilds";
const cases: [name: string, room: GroupContext, path: string | undefined, first?: string][] = [
  ["the group's own tools", at("telegram", "-100777"), `${telegram}.-100777.tools`, "exec"],
  [
    "a sender's entry replaces them",
    at("telegram", "-100777", { senderIds: ["4242"] }),
    `${telegram}.-100777.toolsBySender.4242`,
  ],
  [
    "a key may carry the channel",
    at("telegram", "-100777", { senderIds: ["7"] }),
    `${telegram}.-100777.toolsBySender.telegram:7`,
  ],
  [
    "and so may the sender",
    at("Telegram", "-100777", { senderIds: ["telegram:4242"] }),
    `${telegram}.-100777.toolsBySender.4242`,
  ],
  [
    "the first known id of the sender",
    at("telegram", "-100777", { senderIds: ["x", "7", "4242"] }),
    `${telegram}.-100777.toolsBySender.telegram:7`,
  ],
  ["another sender falls to tools", at("telegram", "-100777", { senderIds: ["1"] }), `${telegram}.-100777.tools`],
  [
    "a topic before its group",
    at("telegram", "-100777", { topicId: "5", senderIds: ["4242"] }),
    `${telegram}.-100777.topics.5.tools`,
  ],
  ["a topic without a policy", at("telegram", "-100777", { topicId: "6" }), `${telegram}.-100777.tools`],
  [
    "a group without a policy: the default's sender",
    at("telegram", "-2", { senderIds: ["4242"] }),
    `${telegram}.*.toolsBySender.4242`,
  ],
  [
    "an unlisted group: the default's star sender before its tools",
    at("telegram", "-3"),
    `${telegram}.*.toolsBySender.*`,
  ],
  [
    "an account's own groups",
    at("telegram", "-100777", { accountId: "Work" }),
    "channels.telegram.accounts.work.groups.-100777.tools",
  ],
  ["an account's groups replace the channel's", at("telegram", "-3", { accountId: "work" }), undefined],
  ["an account without groups", at("telegram", "-100777", { accountId: "home" }), `${telegram}.-100777.tools`],
  ["an unknown account", at("telegram", "-100777", { accountId: "nope" }), `${telegram}.-100777.tools`],
  ["a channel of a guild", at("discord", "1", { guildId: "900" }), `${guild}.900.channels.1.tools`],
  [
    "the star channel before the guild",
    at("discord", "9", { guildId: "900", senderIds: ["77"] }),
    `${guild}.900.channels.*.toolsBySender.77`,
  ],
  ["the guild when the channel has none", at("discord", "2", { guildId: "900" }), `${guild}.900.tools`],
  [
    "a thread under its parent",
    at("discord", "555", { guildId: "900", parentId: "1" }),
    `${guild}.900.channels.1.tools`,
  ],
  ["an unlisted guild", at("discord", "8", { guildId: "901" }), `${guild}.*.tools`],
  ["a channel under the star guild", at("discord", "1", { guildId: "901" }), `${guild}.*.channels.1.tools`],
  ["without a guild id the guild that lists the channel", at("discord", "1"), `${guild}.900.channels.1.tools`],
  ["a thread without a guild id", at("discord", "555", { parentId: "2" }), `${guild}.900.tools`],
  ["without a guild id, an unlisted channel falls to the star guild", at("discord", "8"), `${guild}.*.tools`],
  ["Slack, whatever the case", at("slack", "c0abc"), "channels.slack.channels.C0ABC.tools"],
  ["Slack default", at("slack", "C9"), "channels.slack.channels.*.tools"],
  [
    "a Teams conversation",
    at("msteams", "19:x@thread.tacv2", { teamId: "T1" }),
    'channels.msteams.teams.T1.channels["19:x@thread.tacv2"].tools',
  ],
  [
    "a Teams team by sender",
    at("msteams", "19:y", { teamId: "t1", senderIds: ["AAD-1"] }),
    "channels.msteams.teams.T1.toolsBySender.aad-1",
  ],
  ["Teams without an entry", at("msteams", "19:y", { teamId: "T2" }), undefined],
  [
    "WhatsApp by phone number",
    at("whatsapp", "1203@g.us", { senderIds: ["+15550100"] }),
    'channels.whatsapp.groups["1203@g.us"].toolsBySender.+15550100',
  ],
  ["a channel without entries", at("signal", "g"), undefined],
  ["an unknown channel", at("irc", "g"), undefined],
  ["keys of Object.prototype are not groups", at("constructor", "__proto__"), undefined],
];

for (const [name, room, path, first] of cases) {
  void test(name, () => {
    const policy = groupPolicy({ channels }, room);
    assert.equal(policy?.path, path);
    if (first !== undefined) assert.deepEqual(policy?.lists, deny(first));
  });
}

void test("lifts the group's deny for the operator's entry only", () => {
  const config = {
    channels: {
      telegram: {
        groups: {
          "-100777": {
            tools: deny("exec", "process"),
            toolsBySender: { "4242": { alsoAllow: ["exec", "process"] } },
          },
        },
      },
    },
  };
  const ask = (senderIds: string[], tools: object = {}) =>
    decide(subjectOf({ ...config, tools }, { group: at("telegram", "-100777", { senderIds }) }), "exec").allowed;
  assert.deepEqual(
    [ask(["1"]), ask([]), ask(["4242"]), ask(["4242"], { deny: ["exec"] })],
    [false, false, true, false],
  );
});

void test("does not apply the group layer outside groups", () => {
  const decision = decide(subjectOf({ channels }), "exec");
  assert.deepEqual(
    decision.layers.find(({ layer }) => layer === "group"),
    { layer: "group", verdict: "not-applicable", note: "the session is not in a group" },
  );
});
