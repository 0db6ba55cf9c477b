// The board of things made after the tools: tools and jobs keep the ports, whoever opens the real thing ties it.
import type { AgentCron } from "../cron/agent-cron.ts";
import type { Subagents } from "../session/subagents.ts";
import type { LiveStatus } from "../session/live-status.ts";
import type { SessionMessages } from "../session/session-messages.ts";
import type { Turns } from "../session/turns.ts";
import type { Wake } from "../session/wake.ts";
import type { Admin } from "../tool/admin.ts";
import { slot, type Slot } from "../tool/slot.ts";

export interface GatewayServices {
  /** agents.ts ties these five. */
  readonly turns: Slot<Turns>;
  /** Telling a session something, and giving it a turn to read it in. */
  readonly wake: Slot<Wake>;
  readonly children: Slot<Subagents>;
  readonly sessionMessages: Slot<SessionMessages>;
  readonly liveStatus: Slot<LiveStatus>;
  /** cron.ts ties it. */
  readonly cron: Slot<AgentCron>;
  /** Restarting and configuring the gateway from inside; admin.ts ties it. */
  readonly admin: Slot<Admin>;
}

/** The words say what needs a running gateway, where nothing is tied. */
export function createGatewayServices(): GatewayServices {
  return {
    turns: slot("work for agents"),
    wake: slot("waking a session"),
    children: slot("sub-agents"),
    sessionMessages: slot("sessions_send"),
    liveStatus: slot("how sessions stand"),
    cron: slot("cron"),
    admin: slot("gateway"),
  };
}
