// One check of the doctor: what it inspects, what it may find and how that is fixed.
import type { OpenClawError } from "../../core/error.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { shortenHome } from "../../base/paths.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Repair } from "../repair.ts";

export interface CheckContext {
  readonly paths: Paths;
  readonly env: Env;
  readonly loaded: LoadedConfig;
  /** Connects to the gateway this machine uses. Throws when the config does not even name one. */
  readonly probeGateway: () => Promise<GatewayProbe>;
}

export interface GatewayProbe {
  readonly url: string;
  /** Process that holds the lock of the state folder. */
  readonly ownerPid: number | undefined;
  readonly isListening: boolean;
  readonly answer:
    | { readonly ok: true; readonly uptimeMs: number; readonly trouble: string | undefined }
    | { readonly ok: false; readonly error: OpenClawError | undefined };
}

export interface Finding {
  /** ok: as it should be. note: worth knowing. warn: should be fixed. fail: something does not work or is unsafe. */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly message: string;
  /** The command or key that fixes it. */
  readonly hint?: string;
  /** What --fix does about it. Only what is safe to do without asking. */
  readonly repair?: Repair;
}

export interface Check {
  readonly name: string;
  /** Skipped while the config is invalid: the result would be about the defaults. */
  readonly needsConfig: boolean;
  run(context: CheckContext): Finding[] | Promise<Finding[]>;
}

export const ok = (message: string): Finding => ({ level: "ok", message });

export const shortPath = (path: string, { paths }: Pick<CheckContext, "paths">): string =>
  shortenHome(path, paths.home);
