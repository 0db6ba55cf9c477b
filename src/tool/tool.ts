// The contract between a tool and the gateway.
import type { AgentId, SessionKey } from "../core/names.ts";
import { type Static, type TObject, Type } from "../core/schema.ts";
import type { Config } from "../config/schema/index.ts";
import type { CallLimit, GroupContext } from "./policy/shape.ts";
import type { ToolOutcome as ToolResult, ToolPlace } from "../protocol/methods/tools.ts";

export type { ToolResult, ToolPlace };

/** What a call is about to do. Approvals, audit and page titles read this; only allow and deny lists read names. */
export type Intent =
  | { readonly does: "read" | "write"; readonly paths: readonly string[] }
  | { readonly does: "run"; readonly command: string; readonly host: "sandbox" | "gateway" | "node" }
  | { readonly does: "fetch"; readonly url: string }
  | { readonly does: "send"; readonly to: string }
  | { readonly does: "admin"; readonly what: string }
  | { readonly does: "look" };

export interface Tool<P extends TObject = TObject, D = unknown> {
  /** snake_case, as the model sees it. */
  readonly name: string;
  /** One line, for the system prompt and for people. */
  readonly summary: string;
  /** Full text, sent with the schema. */
  readonly description: string;
  readonly params: P;
  /** Schema of `details`, for programs that want to check them. Details of every successful call must fit. */
  readonly output?: TObject;
  /** Results are the content of files or commands: paths in them are not renamed for a sandboxed session. */
  readonly verbatim?: true;
  /** Arguments that may contain a password: the journal records only their length. */
  readonly unrecorded?: readonly string[];
  /** When false, the tool is neither in the prompt nor in the schema list. No I/O. The text names the key that enables it. */
  available?(env: ToolEnv): Availability;
  /** Where its calls act and under which further rules, for the decision record. Pure. */
  place?(env: ToolEnv): ToolPlace;
  /** The tool that a call with these arguments is really for: judged, journaled and run as a call of that one. Pure. */
  delegate?(
    args: Readonly<Record<string, unknown>>,
  ): { readonly tool: string; readonly args: Record<string, unknown> } | undefined;
  /** Folds aliases into the canonical names before the check. Must not throw and must be pure. */
  prepare?(raw: Record<string, unknown>): Record<string, unknown>;
  /** Pure; called with checked arguments before anything happens. */
  intent(args: Static<P>, call: ToolCall): Intent;
  /** Throws ToolError for what the model should read. Any other error is a bug. Must honor call.signal. */
  run(args: Static<P>, call: ToolCall): Promise<ToolResult<D>>;
}

export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly fix: string };

export interface ToolEnv {
  readonly config: Config;
  readonly agent: AgentId;
  /** `provider/model` of the run, if there is one. */
  readonly model: string | undefined;
  readonly sandboxed: boolean;
}

/** All that a tool may know about the caller. Services come in through its factory instead. */
export interface ToolCall {
  readonly id: string;
  /** The run it belongs to, or its own id outside of a run. The changes of one turn are undone together. */
  readonly turn: string;
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly config: Config;
  /** Absolute path of the agent's workspace; relative paths resolve here. */
  readonly workspace: string;
  /** True when file paths must stay inside the workspace (`tools.fs.workspaceOnly`). */
  readonly workspaceOnly: boolean;
  readonly sandboxed: boolean;
  /** The agent's own workspace, when a sandboxed session may only read it: it is `/agent` there. */
  readonly agentWorkspace?: string | undefined;
  /** What `workspace` is called inside the sandbox of a sandboxed session. */
  readonly inside?: string | undefined;
  readonly subagent: boolean;
  /** Ids of the sender of the message that led here, if known. */
  readonly senderIds: readonly string[];
  /** What directives in that message asked for; valid for this turn only. */
  readonly hints: CallHints;
  readonly signal: AbortSignal;
  /** Plain JSON by which `recallTool` judges this call again later, when an approval for it is answered. */
  readonly asker?: () => Promise<Asker>;
  /** Whether another tool may be used by the same caller; `exec` asks for `process`. */
  allows(tool: string): boolean;
  /** Names of all tools the same caller is offered. */
  offers?(): readonly string[];
  progress(partial: ToolResult): void;
  /** The program that called, where it can be notified and asked while the call runs. */
  readonly client?: CallClient | undefined;
}

/** A calling program that listens while its call runs, such as an MCP client. */
export interface CallClient {
  /** Whether it said that it can answer this, and the config allows asking it. */
  can(method: ClientQuestion["method"]): boolean;
  /**
   * One answer for each question, checked. Ask before the first effect: for a client without a session the call ends here
   * with `client.asked` and is made again with the answers. Throws `client.cannot-answer` when it lacks the ability.
   */
  ask(questions: Readonly<Record<string, ClientQuestion>>): Promise<Readonly<Record<string, ClientAnswer>>>;
  log(level: "debug" | "info" | "notice" | "warning" | "error", text: string): void;
  report(done: number, total?: number, message?: string): void;
}

export interface ClientQuestion {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Readonly<Record<string, unknown>>;
}

/** The result of the question's method, as the Model Context Protocol defines it. */
export type ClientAnswer = Readonly<Record<string, unknown>>;

/** Who called which tool, stored with a pending approval. Rights are looked up again when it is answered. */
export interface Asker {
  readonly tool: string;
  readonly agent: string;
  readonly session: string;
  /** Id of the session's record; absent where there was no record. */
  readonly sessionId?: string | undefined;
  readonly turn: string;
  readonly model?: string | undefined;
  readonly group?: GroupContext | undefined;
  readonly limits?: readonly CallLimit[] | undefined;
  readonly hints: CallHints;
}

/** `/exec` and `/elevated` directives of a message: they apply to its turn and are not tool arguments. */
export interface CallHints {
  readonly exec?: { readonly host?: string; readonly security?: string; readonly ask?: string; readonly node?: string };
  readonly elevated?: string;
}

/** Identity; it exists so that `args` gets its type from `params`. */
export function defineTool<P extends TObject, D>(tool: Tool<P, D>): Tool<P, D> {
  return tool;
}

/** Objects reach the model as indented JSON and programs as they are. */
export function json<D>(details: D): ToolResult<D> {
  return { content: [{ type: "text", text: JSON.stringify(details, null, 2) }], details };
}

/** Text parameter that must contain more than whitespace. The pattern is for the check only; models do not see it. */
export const nonBlank = (description: string) => Type.String({ pattern: "\\S", description });
