// Finds model servers on this machine's usual ports with the first use; never at startup.
import { isRecord } from "../core/record.ts";
import type { Clock } from "../base/clock.ts";
import type { Env } from "../base/paths.ts";
import type { FoundServer } from "./catalog.ts";
import { createFetch } from "./fetch.ts";
import { knownProviders } from "./providers.ts";

export interface Discovery {
  /** Cached for a short time; an empty result is cached for less. */
  find(): Promise<readonly FoundServer[]>;
  /** The result of the last search, without a new search. */
  known(): readonly FoundServer[];
  forget(): void;
}

export interface DiscoveryDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly deadlineMs?: number;
}

const usualPorts: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(knownProviders).flatMap(([name, { isLocal, baseUrl = "" }]) =>
    isLocal === true ? [[name, Number(new URL(baseUrl).port)]] : [],
  ),
);
const keepFoundMs = 60_000;
const keepNothingMs = 3000;
/** Most ports have no server, so the wait is short, unless a person named the port. */
const usualDeadlineMs = 300;
const namedDeadlineMs = 5000;

export function createDiscovery({ env, clock, deadlineMs }: DiscoveryDeps): Discovery {
  const isNamed = (env["OPENCLAW_DISCOVERY_PORTS"] ?? "").trim() !== "";
  const waitMs = deadlineMs ?? (isNamed ? namedDeadlineMs : usualDeadlineMs);
  let last: { readonly at: number; readonly servers: Promise<readonly FoundServer[]> } | undefined;
  let known: readonly FoundServer[] = [];
  return {
    find() {
      const age = last === undefined ? Infinity : clock.ticks() - last.at;
      if (last !== undefined && age < (known.length > 0 ? keepFoundMs : keepNothingMs)) return last.servers;
      const servers = look(portsOf(env), waitMs).then((found) => (known = found));
      last = { at: clock.ticks(), servers };
      return servers;
    },
    known: () => known,
    forget() {
      last = undefined;
    },
  };
}

/** `OPENCLAW_DISCOVERY_PORTS=ollama=11500,vllm=8001` limits the search to these ports, `off` turns it off. */
function portsOf(env: Env): readonly (readonly [string, number])[] {
  const given = env["OPENCLAW_DISCOVERY_PORTS"]?.trim();
  if (given === undefined || given === "") return Object.entries(usualPorts);
  return given.split(",").flatMap((entry) => {
    const [name = "", port = ""] = entry.split("=");
    return /^\d{1,5}$/.test(port.trim()) ? [[name.trim(), Number(port)] as const] : [];
  });
}

async function look(
  ports: readonly (readonly [string, number])[],
  deadlineMs: number,
): Promise<readonly FoundServer[]> {
  const answers = await Promise.all(ports.map(([provider, port]) => ask(provider, port, deadlineMs)));
  return answers.flatMap((answer) => (answer === undefined || answer.models.length === 0 ? [] : [answer]));
}

async function ask(provider: string, port: number, deadlineMs: number): Promise<FoundServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const fetch = createFetch({ connected: () => undefined });
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(deadlineMs) });
    if (!response.ok) return undefined;
    return { provider, baseUrl, models: modelsIn(await response.json()) };
  } catch {
    // No server, another program, or too slow: not a usable model server.
    return undefined;
  }
}

function modelsIn(answer: unknown): FoundServer["models"] {
  const list = isRecord(answer) && Array.isArray(answer["data"]) ? (answer["data"] as unknown[]) : [];
  return list.flatMap((entry) => {
    if (!isRecord(entry) || typeof entry["id"] !== "string" || notForChat.test(entry["id"])) return [];
    const sizes = [
      entry["max_model_len"],
      entry["context_length"],
      entry["context_window"],
      entry["max_context_length"],
    ];
    const window = sizes.find((size) => typeof size === "number" && size > 0);
    return [{ id: entry["id"], ...(typeof window === "number" ? { contextWindow: window } : {}) }];
  });
}

const notForChat = /embed|rerank|whisper|tts|clip|bge-|moderation/i;
