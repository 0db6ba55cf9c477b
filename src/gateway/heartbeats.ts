// Heartbeats as the gateway's methods see them; the house makes them.
import type { AgentId } from "../core/names.ts";
import type { HeartbeatSettings } from "../agent/heartbeat/settings.ts";
import type { WakeMode } from "../session/wake.ts";

/** As recorded; also the payload of the event `heartbeat`. */
export interface HeartbeatEvent {
  readonly ts: number;
  readonly status: "ok" | "sent" | "skipped" | "failed";
  /** Why it was skipped, was not sent or failed. */
  readonly reason?: string;
  readonly durationMs: number;
  readonly preview?: string;
  readonly hasMedia?: boolean;
  readonly channel?: string;
  readonly to?: string;
  readonly agentId: string;
}

export interface Heartbeats {
  /** A line for the main session of the default agent, now or with its next beat; `now` wakes every agent that beats. */
  wakeMain(text: string, mode: WakeMode): Promise<void>;
  last(): Promise<HeartbeatEvent | null>;
  setOn(on: boolean): Promise<void>;
  isOn(): boolean;
  settingsOf(agentId: AgentId): HeartbeatSettings & { readonly enabled: boolean };
  /** The config may have changed. */
  changed(): void;
}
