// The engine behind every command: route, place, rules, approval, start; then wait, or go on in the background.
import { ToolError } from "../core/error.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import type { EntryRef } from "./policy/effective.ts";
import type { Plan } from "./policy/plan.ts";
import type { Sandboxes } from "./sandboxes.ts";
import { createFollow, type Follow } from "./follow.ts";
import { createGated, type Gated, type GatedBody } from "./approved-runs.ts";
import type { Guard } from "./guard.ts";
import type { GuardPlaces } from "./guard/places.ts";
import type { NodeRuns } from "./node-command.ts";
import { recheckOnNode, runOnNode } from "./run-on-node.ts";
import { recheckOnHost, runOnHost } from "./run-on-host.ts";
import { runInSandbox } from "./run-in-sandbox.ts";
import type { ProcessTable } from "./processes.ts";
import type { ExecOutcome } from "./result.ts";
import type { Route } from "./route.ts";
import type { StartRun } from "./running.ts";
import type { TailMask } from "./shown-tail.ts";

export interface ExecDeps {
  readonly start: StartRun;
  readonly processes: ProcessTable;
  readonly sandboxes: Sandboxes;
  readonly broker: ApprovalBroker;
  readonly nodes: NodeRuns;
  readonly stateDir: string;
  /** Files no command line may name by an allowlist alone: settings, approvals, credentials, the store. */
  readonly guarded: readonly string[];
  readonly guard: Guard;
  /** What is hidden from a command that no person approved. */
  places(agent: AgentId, workspace: string): GuardPlaces;
  readonly home: string;
  /** The gateway's own environment; children get a small part of it. */
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** For what is cut out of an output, and for what a session is told. */
  readonly mask: TailMask;
  /** Folders programs are looked for in on this machine: `pathPrepend`, the login shell's, our own. */
  searchPath(pathPrepend: readonly string[]): Promise<readonly string[]>;
  /** The shell for whole command lines on this machine. */
  shell(): string;
  /** Notes in the approvals file that entries were used; soon, not now. */
  noteUse(matched: readonly EntryRef[], plan: Plan): void;
  /** Session state and the gates of the sender are looked up by whoever wires this. */
  route(args: ExecArgs, call: ExecCall): Promise<Route>;
  /** A line for the session, and a turn to read it in. */
  notify(session: SessionKey, text: string): Promise<void>;
}

/** As the caller gave them, checked for shape. */
export interface ExecArgs {
  readonly command: string;
  readonly workdir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly yieldMs?: number;
  readonly background?: boolean;
  readonly timeout?: number;
  readonly pty?: boolean;
  readonly host?: string;
  readonly security?: string;
  readonly ask?: string;
  readonly node?: string;
  readonly elevated?: boolean;
}

/** The part of a tool call that commands look at. */
export interface ExecCall {
  /** The run it belongs to, where there is one. */
  readonly turn?: string;
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly workspace: string;
  readonly sandboxed: boolean;
  readonly subagent: boolean;
  readonly senderIds: readonly string[];
  readonly hints: {
    readonly exec?: {
      readonly host?: string;
      readonly security?: string;
      readonly ask?: string;
      readonly node?: string;
    };
    readonly elevated?: string;
  };
  readonly config: Config;
  readonly signal: AbortSignal;
  /** Plain JSON: who asks, kept with an approval so that the call can be judged again when it is answered. */
  readonly asker?: () => Promise<unknown>;
  allows(tool: string): boolean;
}

/** A command on its way: what was asked, and what was found out about it so far. */
export interface Order {
  readonly runId: string;
  readonly args: ExecArgs;
  readonly call: ExecCall;
  readonly route: Route;
  readonly settings: ExecSettings;
  readonly timeoutMs: number | undefined;
  readonly warnings: readonly string[];
}

export type ExecSettings = NonNullable<NonNullable<Config["tools"]>["exec"]>;

/** What the ways of running share. */
export interface Room {
  readonly deps: ExecDeps;
  readonly follow: Follow;
  readonly gated: Gated;
}

export interface Exec {
  /** Throws ToolError for what the caller should read; details.refused marks a rule that said no. */
  perform(args: ExecArgs, call: ExecCall): Promise<ExecOutcome>;
  /**
   * Routes and judges what waits for an approval again, as if `call` asked for it now. Resolves when it would run or be
   * asked about here, as the very same plan; else throws what a fresh call would, or why it is another one.
   */
  recheck(body: GatedBody, call: ExecCall): Promise<void>;
}

const MAX_COMMAND_CHARS = 100_000;

/** `close` ends the listening for answers, nothing that runs. */
export function createExec(deps: ExecDeps): Exec & { close(): void } {
  const follow = createFollow(deps);
  const gated = createGated(deps, follow);
  const room: Room = { deps, follow, gated };
  return {
    async perform(args, call) {
      checkCommand(args.command);
      const order = await ordered(args, call);
      if (order.route.runsIn === "node") return runOnNode(room, order);
      return order.route.runsIn === "sandbox" ? runInSandbox(room, order) : runOnHost(room, order);
    },
    async recheck(body, call) {
      const order = await ordered(body.args, call);
      const { runsIn } = order.route;
      if (runsIn === (body.on === "node" ? "host" : "node") || runsIn === "sandbox")
        throw runsElsewhere(body.on, order);
      if (body.on === "gateway") await recheckOnHost(deps, order, body.plan);
      else await recheckOnNode(deps, order, body.job);
    },
    close: () => gated.close(),
  };

  async function ordered(args: ExecArgs, call: ExecCall): Promise<Order> {
    return orderOf(args, call, await deps.route(args, call));
  }
}

function runsElsewhere(on: GatedBody["on"], { route }: Order): ToolError {
  const now =
    route.runsIn === "sandbox" ? "in the sandbox" : route.runsIn === "node" ? "on a node" : "on the gateway host";
  const then = on === "node" ? "a node" : "the gateway host";
  return new ToolError(
    "exec.moved",
    `this was asked for ${then}, but commands of this session now run ${now} (host=${route.host})`,
    { hint: "run the command again: it is judged where it would run now", details: { refused: true } },
  );
}

function checkCommand(command: string): void {
  const refuse = (why: string): never => {
    throw new ToolError("exec.bad-command", `exec: ${why}`, { hint: "put long or odd text into a file first" });
  };
  if (command.trim() === "") refuse("command is blank");
  if (command.includes("\0")) refuse("command holds a NUL character");
  if (!command.isWellFormed()) refuse("command holds half a character (a lone surrogate)");
  if (command.length > MAX_COMMAND_CHARS) refuse(`command is longer than ${MAX_COMMAND_CHARS} characters`);
}

function orderOf(args: ExecArgs, call: ExecCall, route: Route): Order {
  const settings = settingsOf(call.config, call.agent);
  const seconds = args.timeout ?? settings.timeoutSec ?? 1800;
  return {
    runId: newId(),
    args,
    call,
    route,
    settings,
    timeoutMs: seconds === 0 ? undefined : Math.round(seconds * 1000),
    warnings: [...route.warnings],
  };
}

/** Key by key: what an agent says for itself goes before what is said for all. */
export function settingsOf(config: Config, agent: AgentId): ExecSettings {
  return { ...config.tools?.exec, ...agentConfig(config, agent)?.tools?.exec };
}
