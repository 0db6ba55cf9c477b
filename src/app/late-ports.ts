// The board of things made after the tools: tools and jobs keep the ports, whoever opens the real thing ties it.
import type { CronDoor } from "../cron/ask.ts";
import type { Children } from "../session/children.ts";
import type { Standing } from "../session/standing.ts";
import type { Talks } from "../session/talks.ts";
import type { Turns } from "../session/turns.ts";
import type { Wake } from "../session/wake.ts";
import type { Admin } from "../tool/admin.ts";
import { late, type Late } from "../tool/late.ts";

export interface LatePorts {
  /** agents.ts ties these five. */
  readonly turns: Late<Turns>;
  /** Telling a session something, and giving it a turn to read it in. */
  readonly wake: Late<Wake>;
  readonly children: Late<Children>;
  readonly talks: Late<Talks>;
  readonly standing: Late<Standing>;
  /** cron.ts ties it. */
  readonly cron: Late<CronDoor>;
  /** Restarting and configuring the gateway from inside; admin.ts ties it. */
  readonly admin: Late<Admin>;
}

/** The words say what needs a running gateway, where nothing is tied. */
export function createLatePorts(): LatePorts {
  return {
    turns: late("work for agents"),
    wake: late("waking a session"),
    children: late("sub-agents"),
    talks: late("sessions_send"),
    standing: late("how sessions stand"),
    cron: late("cron"),
    admin: late("gateway"),
  };
}
