// Webhooks of a running gateway; their modules are loaded with the first request, or when an earlier process left a result to report.
import { lazy } from "../base/lazy.ts";
import type { Outbound } from "../channel/outbound.ts";
import { PROMISES } from "../gateway/webhook/promises.ts";
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
  readonly tell: Wake["tell"];
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
      if ((await runtime.store.kv.list(PROMISES)).length === 0) return;
      const { follower } = await opened();
      await follower.resume();
    },
    async close() {
      await (await engine.opened())?.follower.close();
    },
  };
}

async function openEngine(runtime: Runtime, { tell, outbound }: WebhookPorts): Promise<Engine> {
  const [{ createServeHook }, { createFollower }, { systemClock }] = await Promise.all([
    import("../gateway/webhook/serve.ts"),
    import("../gateway/webhook/follow.ts"),
    import("../base/clock.ts"),
  ]);
  const { store, paths, mask, settings } = runtime;
  const { turns } = runtime.services;
  const log = runtime.log.child("webhooks");
  const follower = createFollower({ store, turns, tell, outbound, log });
  const config = () => settings.now().config;
  const serve = createServeHook({
    config,
    turns,
    tell,
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
