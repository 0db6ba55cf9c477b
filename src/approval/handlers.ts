// The registered handlers: delivers each end of an approval to the one that asked, and starts what was allowed.
import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { GrantUser } from "./grant.ts";
import type { ApprovalHandler } from "./handler.ts";
import type { Approval, HandlerName } from "./record.ts";

type LoadHandler = () => Promise<ApprovalHandler>;

export interface Handlers {
  register(name: HandlerName, load: LoadHandler): () => Promise<void>;
  /** Throws when it is not registered: an approval that cannot be carried out is neither asked for nor allowed. */
  require(name: HandlerName): LoadHandler;
  deliver(event: "resolved" | "lapsed" | "interrupted", approval: Approval): void;
}

/** The part of the broker that starts and ends an approval. */
interface Starts {
  begin(id: string, user: GrantUser): Promise<boolean>;
  finish(id: string, outcome: string): Promise<void>;
}

export function createHandlers(broker: Starts, log: Log): Handlers {
  const loaders = new Map<HandlerName, LoadHandler>();
  const underWay = new Map<Promise<void>, LoadHandler>();
  return {
    register(name, load) {
      loaders.set(name, load);
      return async () => {
        if (loaders.get(name) === load) loaders.delete(name);
        await Promise.all([...underWay].filter(([, by]) => by === load).map(([work]) => work));
      };
    },
    require(name) {
      const load = loaders.get(name);
      if (load !== undefined) return load;
      throw new OpenClawError(
        "approval.not-available",
        `approvals of "${name}" are not available: that part of the gateway is not running`,
        { hint: "try again when the gateway has started: openclaw gateway status" },
      );
    },
    deliver(event, approval) {
      const { id, handler: name } = approval;
      if (name === null) return;
      const load = loaders.get(name);
      if (load === undefined) return log.warn("an approval ended while its handler was not running", { id, name });
      const work = carryOut(event, approval, load)
        .catch((error: unknown) => log.error("the answer to an approval could not be carried out", { id, error }))
        .finally(() => underWay.delete(work));
      underWay.set(work, load);
    },
  };

  async function carryOut(event: string, approval: Approval, load: LoadHandler): Promise<void> {
    const { id, state, agent, session } = approval;
    const handler = await load();
    if (event === "interrupted") return handler.interrupted(approval);
    if (state !== "allowed") return handler.denied(approval);
    // Another caller cannot start it too: begin is true once.
    if (await broker.begin(id, { agent, session })) await broker.finish(id, await handler.run(approval));
  }
}
