// What a backend is asked to build, and what it can do with it. Leaves implement Backend; boxes.ts alone uses it.
import type { Sandbox, Mount } from "../sandbox.ts";
import type { ContainerSettings } from "../sandbox-settings.ts";

export interface SandboxSpec {
  /** Prefix, scope and a hash: the same scope gives the same name. */
  readonly name: string;
  /** `session:<key>`, `agent:<id>` or `shared`. */
  readonly scopeKey: string;
  /** The box's own folder on this machine: its home, its temporary files. Private. */
  readonly folder: string;
  /** The workspace first; then the agent's own one when it is shown read-only. */
  readonly mounts: readonly Mount[];
  readonly workdir: string;
  /** Host paths that are never seen inside, wherever they lie: state, config, approvals, keys. */
  readonly hidden: readonly string[];
  /** Home folders of this machine: a workspace that is one gets the names shells and log-ins obey protected too. */
  readonly homes: readonly string[];
  /** Commands may change the repositories of the workspace. */
  readonly gitWrite: boolean;
  readonly container: ContainerSettings;
  /** Changes with every setting that a built box cannot take up. */
  readonly settingsHash: string;
  /** Before now; undefined for a new box. */
  readonly lastUsedAt: number | undefined;
}

export type Works = { readonly works: true } | { readonly works: false; readonly reason: string; readonly fix: string };

export interface Backend {
  readonly kind: "docker" | "bubblewrap";
  /** By a real run, once; a failure is tried again on the next question. */
  works(): Promise<Works>;
  /** Throws `sandbox.refused` for settings that would open the box or that this backend cannot keep. */
  check(spec: SandboxSpec): void;
  /** Cheap and without side effects; the first launch builds. */
  open(spec: SandboxSpec): Sandbox;
  /** Ends what runs in the box and takes it down; its folder is the caller's. Idempotent. */
  remove(name: string): Promise<void>;
  /** Which of our boxes stand now, by name. */
  liveStatus(): Promise<ReadonlyMap<string, LiveStatus>>;
  close(): Promise<void>;
}

export interface LiveStatus {
  readonly running: boolean;
  readonly image: string;
}
