// Media understanding over an open runtime: loads with the first message that has an attachment.
import { systemClock } from "../base/clock.ts";
import type { AgentsDeps } from "../agent/deps.ts";
import type { EntryDeps } from "../agent/media/run-entry.ts";
import { createRunLimit } from "../agent/run-limit.ts";
import { subjectOf } from "../tool/subject.ts";
import type { Runtime } from "./runtime.ts";

export function openUnderstanding(
  { media, models, settings, commands, log, mask }: Runtime,
  shared: Pick<EntryDeps, "askModel" | "budgets" | "ledger">,
): NonNullable<AgentsDeps["understandMedia"]> {
  const config = () => settings.now().config;
  const ownLog = log.child("media");
  const limit = createRunLimit(() => config().tools?.media?.concurrency ?? 2);
  return async (message) => {
    const { understandMedia } = await import("../agent/media/understand.ts");
    const deps = { ...shared, models, config, clock: systemClock, startProgram: commands.startProgram };
    return understandMedia(
      {
        ...deps,
        store: media,
        limit,
        log: ownLog,
        mask,
        async pathFor({ agentId, sessionKey }, path) {
          const subject = subjectOf({ sessionKey, agentId }, config());
          if (!subject.sandboxed) return path;
          const { copyToWorkspace } = await import("../agent/media/copy-to-workspace.ts");
          return copyToWorkspace(media, path, commands.sandboxes.pathsOf(subject).workspace, systemClock.now());
        },
      },
      message,
    );
  };
}
