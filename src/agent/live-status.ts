// Facts about sessions from the running models, ledger and runs.
import type { ModelBook } from "../model/model.ts";
import type { LiveStatus } from "../session/live-status.ts";
import type { Agents } from "./agent.ts";
import type { Ledger } from "./ledger.ts";

export function createLiveStatus(models: ModelBook, ledger: Ledger, agents: Agents): LiveStatus {
  return {
    async model(agentId, override) {
      const [ref] = await models.candidates({ agentId, override });
      return ref === undefined ? undefined : { ref, credentials: (await models.ready?.(ref, agentId)) ?? 0 };
    },
    models: () => models.list(),
    used: (session) => ledger.session(session),
    active: (session) => agents.active(session).length,
  };
}
