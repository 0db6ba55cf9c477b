// Opens the webhooks of a gateway; their code loads with the first request or with a result that is still to be reported.
import { lazy } from "../base/lazy.ts";
import type { Outbound } from "../channel/outbound.ts";
import { PENDING_REPORTS } from "../gateway/webhook/pending-reports.ts";
import type { ServeHook } from "../gateway/webhook/serve.ts";
import type { Follower } from "../gateway/webhook/follow.ts";
import type { Wake } from "../session/wake.ts";
import type { Runtime } from "./runtime.ts";

export interface Webhooks {
  readonly serve: ServeHook;
  /** After a start: reports runs that an earlier process did not finish reporting. */
  resume(): Promise<void>;
  /** Before the agents end. */
  close(): Promise<void>;
}

export interface WebhookPorts {
  readonly notify: Wake["notify"];
  readonly outbound: Outbound;
}

interface Engine {
  readonly serve: ServeHook;
  readonly follower: Follower;
}

export function openWebhooks(runtime: Runtime, ports: WebhookPorts): Webhooks {
  const engine = lazy(() => openEngine(runtime, ports));
  const opened = engine.get;
  return {
    async serve(request, response, hook) {
      const { serve } = await opened();
      await serve(request, response, hook);
    },
    async resume() {
      if ((await runtime.store.kv.list(PENDING_REPORTS)).length === 0) return;
      const { follower } = await opened();
      await follower.resume();
    },
    async close() {
      await (await engine.opened())?.follower.close();
    },
  };
}

async function openEngine(runtime: Runtime, { notify, outbound }: WebhookPorts): Promise<Engine> {
  const [{ createServeHook }, { createFollower }, { systemClock }] = await Promise.all([
    import("../gateway/webhook/serve.ts"),
    import("../gateway/webhook/follow.ts"),
    import("../base/clock.ts"),
  ]);
  const { store, paths, mask, settings } = runtime;
  const { turns } = runtime.services;
  const log = runtime.log.child("webhooks");
  const follower = createFollower({ store, turns, notify, outbound, log });
  const config = () => settings.now().config;
  const serve = createServeHook({
    config,
    turns,
    notify,
    follower,
    outbound,
    paths,
    log,
    mask,
    clock: systemClock,
    dedupe: store.dedupe,
  });
  return { serve, follower };
}
