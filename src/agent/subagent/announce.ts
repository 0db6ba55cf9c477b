// Reports the end of a subagent to its requester exactly once: by a turn of its agent, else as plain text.
import type { RunOutcome } from "../../core/event.ts";
import { splitSessionKey } from "../../core/names.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../channel/outbound.ts";
import type { ModelBook } from "../../model/model.ts";
import { isMarkedUntrusted } from "../../session/provenance.ts";
import type { Child } from "../../session/subagents.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import { stopping } from "./retry-later.ts";
import { NO_LIMIT_MS } from "./spawn.ts";
import { announcement, plainText } from "./announce-text.ts";

export interface AnnounceDeps {
  readonly store: Pick<Store, "children" | "sessions" | "together">;
  readonly turns: () => Turns;
  readonly models: Pick<ModelBook, "candidates">;
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly log: Log;
  readonly closing: AbortSignal;
}

/** How long a result waits for a deleted session. */
export const KEEP_MS = 14 * 24 * 3_600_000;

/** All ids derive from the run id, so that a repeat after a crash posts nothing twice. */
export async function announceEnd(deps: AnnounceDeps, child: Child): Promise<void> {
  const { telling } = child.body;
  if (telling !== "none" && !(await hasRequester(deps, child))) return;
  if (telling === "say") await postPlainText(deps, child);
  if (telling === "turn") await announceByTurn(deps, child);
  await markReported(deps, child);
}

/** The result stays in the table: a session that is created again under the same key gets it at the next start. */
async function hasRequester(deps: AnnounceDeps, child: Child): Promise<boolean> {
  const { runId, requesterKey, status, endedAt = 0 } = child;
  if ((await deps.store.sessions.get(requesterKey)) !== undefined) return true;
  deps.log.warn("a subagent ended, and its requester no longer exists", { runId, requesterKey, status });
  if (deps.clock.now() - endedAt > KEEP_MS) await markReported(deps, child);
  return false;
}

async function announceByTurn(deps: AnnounceDeps, child: Child): Promise<void> {
  const { requesterKey: sessionKey, runId, body } = child;
  const [model] = await deps.models.candidates({ agentId: splitSessionKey(sessionKey).agentId });
  if (model !== undefined || child.state === "announcing") {
    const announceId = `${runId}:announce`;
    const text = announcement(child);
    const trust = isMarkedUntrusted(body) ? { untrusted: true as const } : {};
    await deps
      .turns()
      .post({ runId: announceId, sessionKey, text, source: "sessions_spawn", authorised: false, ...trust });
    await deps.store.children.update(runId, (row) =>
      row.state === "ended" ? { ...row, state: "announcing" } : undefined,
    );
    const outcome = await deps.turns().wait(announceId, NO_LIMIT_MS, deps.closing);
    if (deps.closing.aborted) throw stopping();
    if (outcome?.status === "ok") return deliver(deps, child, outcome);
  }
  // No model could report it, so the plain result is posted.
  await postPlainText(deps, child);
}

async function postPlainText({ turns }: AnnounceDeps, child: Child): Promise<void> {
  await turns().say(child.requesterKey, plainText(child), `${child.runId}:told`);
}

async function deliver({ outbound, log }: AnnounceDeps, { runId, body }: Child, outcome: RunOutcome): Promise<void> {
  const { route } = body;
  if (route === undefined || outcome.silent) return;
  await outbound
    .send({ intentId: `${runId}:announce`, route, text: outcome.text })
    .catch((error: unknown) => log.warn("the result of a subagent was not delivered", { error, runId }));
}

async function markReported({ store, clock }: AnnounceDeps, { runId, body }: Child): Promise<void> {
  const now = clock.now();
  const archive = body.cleanup === "delete" ? { archiveAt: now } : {};
  await store.children.update(runId, (row) => ({ ...row, state: "told", ...archive }));
}
