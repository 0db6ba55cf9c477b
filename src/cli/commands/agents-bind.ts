// `openclaw agents bind`: sets which conversations an agent answers.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../../core/error.ts";
import type { Edit } from "../../config/edit.ts";
import { bindingText, requireAgent, type Binding } from "../agent-rows.ts";
import { peerFrom } from "../binding.ts";
import { defineCommand, UsageError } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";

export const command = defineCommand({
  details: "The most specific binding wins; conversations without a binding go to the default agent.",
  arguments: [{ name: "id", description: "The agent." }],
  options: {
    channel: { type: "string", value: "channel", description: "Such as telegram or discord." },
    account: { type: "string", value: "id", description: "One account of the channel; * means any." },
    peer: { type: "string", value: "kind:id", description: "One conversation, such as group:-100123 or direct:42." },
    guild: { type: "string", value: "id", description: "One Discord server." },
    team: { type: "string", value: "id", description: "One Slack workspace or Teams team." },
    remove: { type: "boolean", description: "Remove exactly this binding instead." },
  },
  examples: [
    { line: "agents bind support --channel telegram --account support", does: "everything of one account" },
    { line: "agents bind ops --channel discord --peer channel:123 --guild 456", does: "one channel of a server" },
    { line: "agents bind support --channel telegram --account support --remove", does: "remove that binding" },
  ],
  async run(io, { options, arguments: [raw = ""] }) {
    const { channel, account, peer, guild, team } = options;
    if (channel === undefined || channel.trim() === "")
      throw new UsageError("missing --channel <channel>: the channel it answers", ["agents", "bind"]);
    const match: Binding["match"] = {
      channel,
      ...(account === undefined ? {} : { accountId: account }),
      ...(peer === undefined ? {} : { peer: peerFrom(peer) }),
      ...(guild === undefined ? {} : { guildId: guild }),
      ...(team === undefined ? {} : { teamId: team }),
    };
    const removes = options.remove === true;
    const words = bindingText({ agentId: raw, match });
    const change = editConfig(io, "bindings", ({ config }): Edit[] => {
      const agentId = requireAgent(config, raw);
      const bindings = config.bindings ?? [];
      const at = bindings.findIndex((binding) => isDeepStrictEqual(binding.match, match));
      const there = bindings[at];
      if (removes) {
        if (there?.agentId !== agentId)
          throw new OpenClawError("agent.not-bound", `agent ${agentId} is not bound to ${words}`, {
            hint: "openclaw agents list --bindings",
          });
        return [{ path: ["bindings", at], remove: true }];
      }
      if (there !== undefined && there.agentId !== agentId)
        throw new OpenClawError("agent.bound", `${words} is already bound to agent ${there.agentId}`, {
          hint: `remove that binding first: openclaw agents bind ${there.agentId} with the same flags and --remove`,
        });
      return there === undefined ? [{ path: ["bindings"], value: [...bindings, { agentId, match }] }] : [];
    });
    const done = removes ? `agent ${raw} no longer answers ${words}` : `agent ${raw} answers ${words}`;
    reportChange(io, change, change.changed ? done : `unchanged: ${done}`);
    return 0;
  },
});
