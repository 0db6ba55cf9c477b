// One heartbeat of an agent: whether it runs now, and its report.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { Paths } from "../../base/paths.ts";
import { workspaceOf } from "../../config/agents.ts";
import type { ModelBook } from "../../model/model.ts";
import type { SystemEvents } from "../../session/system-events.ts";
import type { Agents } from "../agent.ts";
import { isActive } from "./hours.ts";
import type { HeartbeatSettings } from "./settings.ts";
import { targetOf, visibilityOf } from "./target.ts";
import { runSystemTurn, type SystemTurnDeps, type Report } from "./turn.ts";

export interface BeatDeps extends SystemTurnDeps {
  readonly agents: SystemTurnDeps["agents"] & Pick<Agents, "active">;
  readonly models: Pick<ModelBook, "candidates">;
  readonly events: Pick<SystemEvents, "peek">;
  readonly paths: Paths;
  readonly isOn: () => Promise<boolean>;
}

/** `requests-in-flight` asks for another try soon. */
export async function beat(deps: BeatDeps, settings: HeartbeatSettings, runId: string): Promise<Report> {
  const reason = await whyNot(deps, settings);
  if (reason !== undefined) return { status: "skipped", reason };
  const { session, prompt } = settings;
  const { report } = await runSystemTurn(deps, { runId, session, text: prompt, settings, regular: true });
  return report;
}

async function whyNot(deps: BeatDeps, settings: HeartbeatSettings): Promise<string | undefined> {
  const { agents, models, events, store, outbound, clock } = deps;
  const { agentId, session } = settings;
  const config = deps.config();
  if (!(await deps.isOn())) return "disabled";
  const { route } = targetOf(settings, await store.sessions.get(session), outbound.channels(), config);
  const { showOk, showAlerts, useIndicator } = visibilityOf(config, route);
  if (!showOk && !showAlerts && !useIndicator) return "alerts-disabled";
  if (!isActive(settings.activeHours, clock.now(), config)) return "quiet-hours";
  if (agents.active(session).length > 0) return "requests-in-flight";
  const hasNews = (await events.peek(session)).length > 0;
  if (!hasNews && isEmptyFile(join(workspaceOf(config, agentId, deps.paths), "HEARTBEAT.md")))
    return "empty-heartbeat-file";
  const [model] = await models.candidates({ agentId });
  return model === undefined ? "no-model" : undefined;
}

const MAX_FILE_BYTES = 4_000_000;

/** True for a file with only headings and blank lines. A missing file still starts a turn. */
function isEmptyFile(path: string): boolean {
  try {
    const { size } = lstatSync(path);
    if (!lstatSync(path).isFile() || size > MAX_FILE_BYTES) return false;
    return isEmptyList(readFileSync(path, "utf8"));
  } catch (error) {
    if (errnoOf(error) !== undefined) return false;
    throw error;
  }
}

export function isEmptyList(text: string): boolean {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|[\n\r]/)
    .every((line) => /^\s*(?:#{1,6}(?:\s.*)?)?$/.test(line));
}
