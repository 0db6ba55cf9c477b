// One request to run a command: the arguments, the call they came with, and what follows from route and config.
import { ToolError } from "../core/error.ts";
import { sessionKindOf, type AgentId, type SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { Route } from "./route.ts";

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

/**
 * Whether `process` may write to it. A command that is expected to end within the call reads an empty standard input,
 * because programs such as rg and ssh read an open pipe until its end.
 */
export function wantsInput({ pty, background, yieldMs }: ExecArgs): boolean {
  return pty === true || background === true || yieldMs !== undefined;
}

/** The parts of a tool call that matter to a command. */
export interface ExecCall {
  /** The id of the run that made the call, if any. */
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
  /** Plain JSON that identifies the caller; stored with an approval so that the call can be judged again later. */
  readonly asker?: () => Promise<unknown>;
  allows(tool: string): boolean;
}

export type ExecSettings = NonNullable<NonNullable<Config["tools"]>["exec"]>;

export interface ExecRequest {
  readonly runId: string;
  readonly args: ExecArgs;
  readonly call: ExecCall;
  readonly route: Route;
  readonly settings: ExecSettings;
  readonly timeoutMs: number | undefined;
  readonly warnings: readonly string[];
}

const DEFAULT_TIMEOUT_SECONDS = 1800;
const MAX_COMMAND_CHARS = 100_000;

export function createExecRequest(args: ExecArgs, call: ExecCall, route: Route): ExecRequest {
  const settings = settingsOf(call.config, call.agent);
  const seconds = args.timeout ?? settings.timeoutSec ?? DEFAULT_TIMEOUT_SECONDS;
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

/** The agent's own settings override the shared ones, key by key. */
function settingsOf(config: Config, agent: AgentId): ExecSettings {
  return { ...config.tools?.exec, ...agentConfig(config, agent)?.tools?.exec };
}

/** Throws `exec.bad-command` for text that cannot be a command line. */
export function checkCommand(command: string): void {
  const refuse = (why: string): never => {
    throw new ToolError("exec.bad-command", `exec: ${why}`, {
      hint: "write long or binary text to a file and pass the file name",
    });
  };
  if (command.trim() === "") refuse("command is blank");
  if (command.includes("\0")) refuse("command contains a NUL character");
  if (!command.isWellFormed()) refuse("command contains half a character (a lone surrogate)");
  if (command.length > MAX_COMMAND_CHARS) refuse(`command is longer than ${MAX_COMMAND_CHARS} characters`);
}

/** Scheduled jobs have no person to answer a question, so the rules alone decide there. */
export function isHeadless(session: SessionKey): boolean {
  return sessionKindOf(session) === "cron";
}
