// The wake words of nodes: one list for all, in a file of the state folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

export interface VoiceWake {
  triggers(): readonly string[];
  /** Durable when it returns; returns what was stored. */
  set(triggers: readonly string[]): readonly string[];
}

const defaultTriggers: readonly string[] = ["openclaw", "claude", "computer"];
const MAX_TRIGGERS = 32;
const MAX_CHARS = 64;

export function createVoiceWake(stateDir: string, clock: Clock, log: Log): VoiceWake {
  const file = join(stateDir, "settings", "voicewake.json");
  let known: readonly string[] | undefined;
  return {
    triggers: () => (known ??= readTriggers(file, log)),
    set(triggers) {
      const kept = tidied(triggers);
      writeFileAtomic(file, `${JSON.stringify({ triggers: kept, updatedAtMs: clock.now() }, null, 2)}\n`);
      known = kept;
      return kept;
    },
  };
}

function readTriggers(file: string, log: Log): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    const triggers = isRecord(value) && Array.isArray(value["triggers"]) ? value["triggers"] : [];
    return tidied(triggers.filter((word) => typeof word === "string"));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") log.warn("cannot read the wake words; using the defaults", { error, file });
    return defaultTriggers;
  }
}

/** An empty list means the defaults, because a node without a wake word cannot be used. */
function tidied(triggers: readonly string[]): readonly string[] {
  const words = triggers.map((word) => word.trim().slice(0, MAX_CHARS).toWellFormed()).filter((word) => word !== "");
  return words.length === 0 ? defaultTriggers : words.slice(0, MAX_TRIGGERS);
}
