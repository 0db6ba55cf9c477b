// What the three ways of running a command (host, sandbox, node) share: their dependencies and the contracts between them.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import type { ApprovalHandler } from "../approval/handler.ts";
import type { EntryRef } from "./policy/effective.ts";
import type { Plan } from "./policy/plan.ts";
import type { ExecArgs, ExecCall, ExecRequest } from "./exec-request.ts";
import type { Guard } from "./guard.ts";
import type { GuardedPaths } from "./guard/guarded-paths.ts";
import type { NodeJob, NodeRuns } from "./node-command.ts";
import type { ProcessTable } from "./processes.ts";
import type { ExecOutcome, Finished } from "./result.ts";
import type { Route } from "./route.ts";
import type { Running, StartRun } from "./running.ts";
import type { Sandboxes } from "./sandboxes.ts";
import type { TailMask } from "./shown-tail.ts";

export interface ExecDeps {
  readonly start: StartRun;
  readonly processes: ProcessTable;
  readonly sandboxes: Sandboxes;
  readonly broker: ApprovalBroker;
  readonly nodes: NodeRuns;
  readonly stateDir: string;
  /** Files that a command line allowed by the allowlist may not name: config, approvals, credentials, the store. */
  readonly guarded: readonly string[];
  readonly guard: Guard;
  /** The files hidden from a command that no person approved. */
  guardedPaths(agent: AgentId, workspace: string): GuardedPaths;
  readonly home: string;
  /** The gateway's own environment; commands inherit a small part of it. */
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** Redacts secrets before output is cut or sent to a session. */
  readonly mask: TailMask;
  /** The folders to search for programs: `pathPrepend`, the login shell's PATH, the gateway's PATH. */
  searchPath(pathPrepend: readonly string[]): Promise<readonly string[]>;
  /** The shell for whole command lines on this machine. */
  shell(): string;
  /** Records in the approvals file that entries were used; written later in one batch. */
  noteUse(matched: readonly EntryRef[], plan: Plan): void;
  /** Reads the session state and the sender's elevation gates, then routes. */
  route(args: ExecArgs, call: ExecCall): Promise<Route>;
  /** The call that asked for an approval, judged again under the rules in force; throws what a new call would. */
  recallCall(asker: unknown): Promise<ExecCall>;
  /** Posts a system event to the session and asks for a turn to read it. */
  notify(session: SessionKey, text: string): Promise<void>;
}

export interface ExecContext {
  readonly deps: ExecDeps;
  readonly follow: Follow;
  readonly approvedRuns: ApprovedRuns;
}

export interface Follow {
  /** Waits in the foreground, where aborting the call ends the command; after `yieldMs` the command continues alone. */
  inTurn(request: ExecRequest, running: Running, cwd: string): Promise<ExecOutcome>;
  /** Lists the command as a background process immediately and notifies the session if it runs longer than `noticeMs`. */
  afterApproval(running: Running, owner: RunOwner, notice: ProgressNotice): Promise<Finished>;
}

export interface RunOwner {
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly command: string;
  readonly cwd: string;
}

export interface ProgressNotice {
  readonly timeoutMs: number | undefined;
  /** 0 disables the notice. */
  readonly noticeMs: number;
  readonly text: (sessionId: string) => string;
}

export interface ApprovedRuns {
  ask(request: ExecRequest, run: PendingRun): Promise<ExecOutcome>;
  /** To be registered with the broker. */
  readonly handlers: { readonly exec: ApprovalHandler<PendingHostRun>; readonly node: ApprovalHandler<PendingNodeRun> };
}

/** Stored with the approval: everything that another process needs to start exactly this command later. */
export type PendingRun = PendingHostRun | PendingNodeRun;

export interface PendingHostRun {
  readonly on: "gateway";
  readonly args: ExecArgs;
  readonly plan: Plan;
  readonly timeoutMs?: number;
  readonly tty: boolean;
  readonly noticeMs: number;
}

export interface PendingNodeRun {
  readonly on: "node";
  readonly args: ExecArgs;
  readonly job: NodeJob;
  readonly noticeMs: number;
}
