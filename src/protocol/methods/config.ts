// Reading and changing the config over the wire.
import { Type } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";

const change = {
  raw: nonEmpty,
  baseHash: optional(nonEmpty),
  sessionKey: optional(Type.String()),
  note: optional(Type.String()),
  restartDelayMs: optional(Type.Integer({ minimum: 0 })),
};

export const configGet = method("config.get", "operator.admin", noParams, returns<ConfigSnapshot>());
export const configSchema = method("config.schema", "operator.admin", noParams, returns<ConfigSchemaResult>());
export const configSet = method(
  "config.set",
  "operator.admin",
  Type.Object({ raw: nonEmpty, baseHash: optional(nonEmpty) }, closed),
  returns<ConfigWritten>(),
);
export const configApply = method(
  "config.apply",
  "operator.admin",
  Type.Object(change, closed),
  returns<ConfigWritten & AnnouncedRestart>(),
);
export const configPatch = method(
  "config.patch",
  "operator.admin",
  Type.Object(change, closed),
  returns<ConfigWritten & AnnouncedRestart>(),
);

export interface ConfigIssue {
  readonly path: string;
  readonly message: string;
}

/** Secrets are replaced by markers in every part of it. */
export interface ConfigSnapshot {
  readonly path: string;
  readonly exists: boolean;
  /** The text of the file itself: without what it includes, with its variables as written. */
  readonly raw: string;
  readonly parsed: unknown;
  readonly valid: boolean;
  /** The config in force: includes, variables and defaults filled in. */
  readonly config: unknown;
  readonly hash: string;
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
  readonly legacyIssues: readonly ConfigIssue[];
}

export interface ConfigSchemaResult {
  readonly schema: unknown;
  readonly uiHints: unknown;
  readonly version: string;
  readonly generatedAt: string;
}

export interface ConfigWritten {
  readonly ok: true;
  readonly path: string;
  readonly config: unknown;
  readonly hash: string;
}

export interface AnnouncedRestart {
  readonly restart: {
    readonly ok: true;
    readonly pid: number;
    readonly signal: "SIGUSR1";
    readonly delayMs: number;
    readonly reason: string;
    readonly mode: "emit";
  };
  readonly sentinel: { readonly path: string; readonly payload: RestartNote };
}

/** What a gateway writes down before a restart, to report it afterwards. */
export interface RestartNote {
  readonly kind: "config-apply" | "update" | "restart";
  readonly status: "ok" | "error" | "skipped";
  readonly ts: number;
  /** The session that gets the report; without one the restart is not reported. */
  readonly sessionKey?: string;
  /** The channel and target of the session's last message, so that the reply goes there. */
  readonly deliveryContext?: unknown;
  readonly message?: string | null;
  readonly doctorHint?: string;
  readonly stats?: Readonly<Record<string, unknown>>;
}
