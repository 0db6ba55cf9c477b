// The specification of a sandbox and the interface of a backend. Only sandboxes.ts uses it.
import type { SandboxBackend } from "../../core/sandbox-backend.ts";
import type { Sandbox, Mount } from "../sandbox.ts";
import type { ContainerSettings } from "../sandbox-settings.ts";

export interface SandboxSpec {
  /** Prefix, scope and a hash; the same scope gives the same name. */
  readonly name: string;
  /** `session:<key>`, `agent:<id>` or `shared`. */
  readonly scopeKey: string;
  /** The sandbox's private folder on this machine: home and temporary files. */
  readonly folder: string;
  /** The workspace first, then the agent's workspace when it is shown read-only. */
  readonly mounts: readonly Mount[];
  readonly workdir: string;
  /** Host paths that are never visible inside: state, config, approvals, keys. */
  readonly hidden: readonly string[];
  /** Home folders of this machine: in such a workspace the names that shells and logins obey are protected too. */
  readonly homes: readonly string[];
  /** True when commands may change the repositories of the workspace. */
  readonly gitWrite: boolean;
  readonly container: ContainerSettings;
  /** Changes with every setting that an existing sandbox cannot adopt. */
  readonly settingsHash: string;
  /** The last use before now; undefined for a new sandbox. */
  readonly lastUsedAt: number | undefined;
}

export type Works = { readonly works: true } | { readonly works: false; readonly reason: string; readonly fix: string };

export const notWorking = (reason: string, fix: string): Extract<Works, { works: false }> => ({
  works: false,
  reason,
  fix,
});

/** Caches a success; a failure is tested again on the next call. */
export function cacheSuccess(probe: () => Promise<Works>): () => Promise<Works> {
  let cached: Promise<Works> | undefined;
  return async () => {
    cached ??= probe();
    const answer = await cached;
    if (!answer.works) cached = undefined;
    return answer;
  };
}

export interface Backend {
  readonly kind: SandboxBackend;
  /** Tested once by a real run; a failure is tested again on the next call. */
  works(): Promise<Works>;
  /** Throws `sandbox.refused` for settings that would open the sandbox or that this backend cannot enforce. */
  check(spec: SandboxSpec): void;
  /** Cheap and without side effects; the first launch builds. */
  open(spec: SandboxSpec): Sandbox;
  /** Ends what runs in the sandbox and removes it; its folder belongs to the caller. Idempotent. */
  remove(name: string): Promise<void>;
  /** The existing sandboxes, by name. */
  liveStatus(): Promise<ReadonlyMap<string, LiveStatus>>;
  close(): Promise<void>;
}

export interface LiveStatus {
  readonly running: boolean;
  readonly image: string;
}
