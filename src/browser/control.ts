// The contract of a browser control service: the tool, the HTTP API, `browser.request` and nodes all use this one request.
import type { Who } from "../exec/sandbox/scope.ts";

/** Where a browser runs: in the sandbox of the session, on the gateway's machine, or on a paired node. */
export const browserTargets = ["sandbox", "host", "node"] as const;
export type BrowserTarget = (typeof browserTargets)[number];

export interface ControlRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Without the query, such as `/act`. */
  readonly path: string;
  /** `profile` selects the profile on every route. */
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly timeoutMs?: number | undefined;
  /** Default: chosen by session, profile and connected nodes. Only the router reads it. */
  readonly target?: string | undefined;
  /** Id or name of a node; implies `target: "node"`. Only the router reads it. */
  readonly node?: string | undefined;
}

/** Who asks, and what that caller may do. */
export interface ControlCaller {
  /** The owner may open private addresses and the gateway itself; an agent may not. */
  readonly who: "owner" | "agent";
  /** Profiles this caller may use; undefined allows all. */
  readonly profiles?: readonly string[] | undefined;
  /** The config key that limits them (default: `agents.list[].tools.browser.profiles`). */
  readonly profilesKey?: string | undefined;
  /** Folders from which files may be uploaded, besides the media folder. */
  readonly uploadFolders: readonly string[];
  readonly signal: AbortSignal;
  /** The session of an agent; absent for the owner. */
  readonly session?: (Who & { readonly sandboxed: boolean }) | undefined;
}

/** Plain JSON. Files are named by their absolute path. */
export type ControlAnswer = Readonly<Record<string, unknown>>;

export interface BrowserControl {
  /** Throws `browser.*`; `statusOf` gives the HTTP status. */
  request(request: ControlRequest, caller: ControlCaller): Promise<ControlAnswer>;
  /** Ends the browsers it started. */
  close(): Promise<void>;
}
