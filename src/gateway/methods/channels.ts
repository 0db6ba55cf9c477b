// Channels and skills are not built yet: empty lists in the recorded shapes.
import * as methods from "../../protocol/methods/channels.ts";
import { defaultAgentId, workspaceOf } from "../../config/agents.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import { join } from "node:path";

export function channelMethods(context: GatewayContext): Served[] {
  const { clock, paths } = context;
  return [
    serve(methods.channelsStatus)(() => ({
      ts: clock.now(),
      channelOrder: [],
      channelLabels: {},
      channelDetailLabels: {},
      channelSystemImages: {},
      channelMeta: [],
      channels: {},
      channelAccounts: {},
      channelDefaultAccountId: {},
    })),
    serve(methods.skillsStatus)(({ agentId }) => {
      const config = context.config();
      const agent = agentId === undefined ? defaultAgentId(config) : subjectOf({ agentId }, config).agent;
      return {
        workspaceDir: workspaceOf(config, agent, paths),
        managedSkillsDir: join(paths.state, "skills"),
        skills: [],
      };
    }),
  ];
}
