// What tests of jobs share: calls about them on a socket, and waiting for what becomes of their times.
import { until } from "./exec.ts";
import type { Frame, Wire } from "./gateway.ts";
import { openScripted, type ScriptedGateway } from "./model.ts";

/** A schedule whose own time does not come while a test looks. */
export const hourly = { kind: "every", everyMs: 3_600_000 } as const;
/** A delivery that says nothing to anybody. */
export const quiet = { mode: "none" } as const;

/** Two agents, `main` and `ops`, and a model that says what the test sets. */
export const openJobGateway = (): Promise<ScriptedGateway> =>
  openScripted({
    agents: { defaults: { model: { primary: "fake/fake-1" } }, list: [{ id: "main", default: true }, { id: "ops" }] },
    tools: { deny: ["browser"] },
  });

export interface WireJob {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly schedule: Record<string, unknown>;
  readonly payload: Record<string, unknown>;
  readonly delivery?: Record<string, unknown>;
  readonly sessionTarget: string;
  readonly wakeMode: string;
  readonly agentId?: string;
  readonly deleteAfterRun?: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly state: { readonly nextRunAtMs?: number; readonly lastStatus?: string; readonly lastError?: string };
}

export interface WireRun {
  readonly jobId: string;
  readonly status: string;
  readonly state: string;
  readonly slot: string;
  readonly why?: string;
  readonly missed?: number;
  readonly error?: string;
  readonly summary: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  readonly runAtMs: number;
  readonly durationMs: number;
  readonly nextRunAtMs?: number;
  readonly deliversTo?: string;
}

/** The answer, or a throw with what was refused. */
export async function ask<T>(wire: Wire, method: string, params: unknown): Promise<T> {
  const { ok, payload, error } = await wire.request(method, params);
  if (ok !== true) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return payload as T;
}

export const addJob = (wire: Wire, job: object): Promise<WireJob> => ask(wire, "cron.add", job);
export const runsOf = async (wire: Wire, id: string, limit = 5000): Promise<WireRun[]> =>
  (await ask<{ entries: WireRun[] }>(wire, "cron.runs", { id, limit })).entries;

export function firstRun(wire: Wire, id: string): Promise<WireRun> {
  return until(
    async () => (await runsOf(wire, id))[0],
    (run) => run !== undefined,
  ) as Promise<WireRun>;
}

export function cronEvents(wire: Wire, jobId: string): Record<string, unknown>[] {
  return wire.frames.flatMap((frame: Frame) => {
    const payload = frame.payload as Record<string, unknown> | undefined;
    return frame.event === "cron" && payload?.["jobId"] === jobId ? [payload] : [];
  });
}
