// The state of channels and skills; the lists are empty until those parts are built.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";

export const channelsStatus = method(
  "channels.status",
  "operator.read",
  Type.Object({ probe: optional(Type.Boolean()), timeoutMs: optional(Type.Integer({ minimum: 0 })) }, closed),
  returns<ChannelsStatus>(),
);
export const skillsStatus = method(
  "skills.status",
  "operator.read",
  Type.Object({ agentId: optional(nonEmpty) }, closed),
  returns<SkillsStatus>(),
);

export interface ChannelsStatus {
  readonly ts: number;
  readonly channelOrder: readonly string[];
  readonly channelLabels: Readonly<Record<string, string>>;
  readonly channelDetailLabels: Readonly<Record<string, string>>;
  readonly channelSystemImages: Readonly<Record<string, string>>;
  readonly channelMeta: readonly unknown[];
  readonly channels: Readonly<Record<string, unknown>>;
  readonly channelAccounts: Readonly<Record<string, unknown>>;
  readonly channelDefaultAccountId: Readonly<Record<string, string>>;
}

export interface SkillsStatus {
  readonly workspaceDir: string;
  readonly managedSkillsDir: string;
  readonly skills: readonly unknown[];
}
