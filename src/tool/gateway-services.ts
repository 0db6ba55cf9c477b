// Services that exist only inside a running gateway: bound once after the tools, which are created first and get them by name.
import { ToolError } from "../core/error.ts";
import type { AgentCron } from "../cron/agent-cron.ts";
import type { AskModel } from "../model/ask.ts";
import type { LiveStatus } from "../session/live-status.ts";
import type { SessionMessages } from "../session/session-messages.ts";
import type { Subagents } from "../session/subagents.ts";
import type { Turns } from "../session/turns.ts";
import type { Wake } from "../session/wake.ts";
import type { Admin } from "./admin.ts";

export interface GatewayServices {
  readonly turns: Turns;
  readonly wake: Wake;
  readonly children: Subagents;
  readonly sessionMessages: SessionMessages;
  readonly liveStatus: LiveStatus;
  readonly askModel: AskModel;
  readonly cron: AgentCron;
  readonly admin: Admin;
}

/** One getter for each service; it throws `tool.needs-gateway` without a running gateway. */
export type ServiceGetters = { readonly [Name in keyof GatewayServices]: () => GatewayServices[Name] };

export interface LateServices extends ServiceGetters {
  /** Called once, when they are open. A turn without a gateway has agents, but no cron and no admin. */
  bind(services: Partial<GatewayServices>): void;
  bound(): Partial<GatewayServices>;
}

export function createLateServices(): LateServices {
  let services: Partial<GatewayServices> | undefined;
  const getter =
    <Name extends keyof GatewayServices>(name: Name, label: string = name) =>
    (): GatewayServices[Name] => {
      const service = services?.[name];
      if (service !== undefined) return service;
      throw new ToolError("tool.needs-gateway", `${label} works only inside the running gateway`, {
        hint: "openclaw gateway run",
      });
    };
  return {
    turns: getter("turns", "running a turn"),
    wake: getter("wake", "waking a session"),
    children: getter("children", "sessions_spawn"),
    sessionMessages: getter("sessionMessages", "sessions_send"),
    liveStatus: getter("liveStatus", "session_status"),
    askModel: getter("askModel", "asking a model"),
    cron: getter("cron"),
    admin: getter("admin", "gateway"),
    bound: () => services ?? {},
    bind(opened) {
      if (services !== undefined) throw new Error("the gateway services are already bound");
      services = opened;
    },
  };
}
