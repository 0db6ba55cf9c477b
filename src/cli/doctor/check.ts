// One thing the doctor looks at, what it may find, and how that can be mended.
import type { LoadedConfig } from "../../config/load.ts";
import type { Io } from "../io.ts";

export interface Patient {
  readonly io: Io;
  readonly loaded: LoadedConfig;
}

export interface Finding {
  /** ok: as it should be. note: worth knowing. warn: should be mended. fail: something does not work or is unsafe. */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly message: string;
  /** The key or command that mends it. */
  readonly hint?: string;
  /** What --fix does about it. Only what is safe to do without asking. */
  readonly repair?: Repair;
}

export interface Repair {
  readonly does: string;
  readonly apply: () => void | Promise<void>;
}

export interface Check {
  readonly name: string;
  /** Left out while the config is not valid: its answer would be about the defaults. */
  readonly needsConfig: boolean;
  look(patient: Patient): Finding[] | Promise<Finding[]>;
}

export const ok = (message: string): Finding => ({ level: "ok", message });
