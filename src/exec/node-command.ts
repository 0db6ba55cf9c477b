// Runs commands on nodes: chooses the node, builds the request, and translates the answer or failure.
import { OpenClawError, ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { isRecord } from "../core/record.ts";
import type { Clock } from "../base/clock.ts";
import { failureOf } from "./node-error.ts";
import { rememberedOnNode } from "./node-always.ts";
import { chooseNode } from "./node-choice.ts";
import type { NodeFacts, NodePort } from "./node-port.ts";
import { judgeNodeRun } from "./node-policy.ts";
import { quoted } from "./policy/preview.ts";
import type { Route } from "./route.ts";
import { AGGREGATE_CHARS, type Finished } from "./result.ts";
import { safeText } from "./safe-text.ts";

export interface NodeRequest {
  readonly route: Pick<Route, "security" | "ask" | "node" | "boundNode">;
  /** Also the id of the approval, if one is needed. */
  readonly runId: string;
  readonly command: string;
  readonly cwd?: string | undefined;
  /** Only variables that the call gave and the rules accepted; the gateway's own environment is not sent. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly agent: string;
  readonly session: string;
}

/** Plain JSON: what the owner is asked about, and exactly what is sent after approval. */
export interface NodeJob {
  readonly runId: string;
  readonly nodeId: string;
  readonly nodeName: string;
  readonly platform: string;
  readonly command: string;
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly agent: string;
  readonly session: string;
  /** Decides whether the owner may be asked when the node refuses. */
  readonly ask: Route["ask"];
  /** The node's hash of what it would start, taken before the owner is asked; the node compares it again. */
  readonly frozen?: string;
}

export interface PreparedNodeRun {
  readonly job: NodeJob;
  /** `ask`: get approval first, then call `run(job, consent)`. */
  readonly verdict: "run" | "ask";
  readonly reason: string;
  /** Pass this to `run`. */
  readonly consent?: NodeConsent;
}

/** Why the node may treat the command as approved. */
export type NodeConsent =
  | { readonly by: "policy" }
  | { readonly by: "person"; readonly decision: "allow-once" | "allow-always" };

export type NodeOutcome =
  | { readonly kind: "finished"; readonly finished: Finished; readonly nodeId: string }
  /** The node requires approval, and the owner may be asked. */
  | { readonly kind: "ask"; readonly reason: string };

export interface NodeRuns {
  /** Throws ToolError `exec.no-node`, `exec.node-…`, `exec.denied`. */
  prepare(request: NodeRequest): Promise<PreparedNodeRun>;
  /** Asks the node to freeze the command before the owner is asked, where the node supports it. Throws like `run`. */
  hold(job: NodeJob): Promise<NodeJob>;
  /** Throws ToolError `exec.denied`, `exec.node-failed`, `exec.node-away`, `exec.node-silent`. */
  run(job: NodeJob, consent?: NodeConsent, signal?: AbortSignal): Promise<NodeOutcome>;
}

/** Extra time for the answer to arrive. */
const GRACE_MS = 10_000;
const LONGEST_MS = 24 * 3_600_000;
const APPROVALS_MS = 10_000;
const PREPARE = "system.run.prepare";

export function createNodeRuns({ port, clock }: { readonly port: NodePort; readonly clock: Clock }): NodeRuns {
  return {
    async prepare(request) {
      const node = await chooseNode(request.route, port);
      const { security, ask, verdict, reason } = judgeNodeRun(
        request.route,
        await approvalsOf(node, port),
        request.agent,
      );
      if (verdict === "deny") throw denied(node, reason, security);
      const job = jobOf(request, node, ask);
      if (verdict === "ask") return { job, verdict, reason };
      return { job, verdict: "run", reason, ...(verdict === "policy" ? { consent: { by: "policy" } as const } : {}) };
    },
    async hold(job) {
      const { commands } = await port.resolve(job.nodeId);
      if (!commands.includes(PREPARE)) return job;
      try {
        const options = { timeoutMs: APPROVALS_MS, idempotencyKey: `${job.runId}:prepare` };
        return {
          ...job,
          frozen: frozenHashIn(await port.invoke(job.nodeId, PREPARE, payloadFor(job, undefined), options)),
        };
      } catch (error) {
        throw refusalOf(error, job);
      }
    },
    async run(job, consent, signal) {
      const startedAt = clock.now();
      const timeoutMs = Math.min((job.timeoutMs ?? LONGEST_MS) + GRACE_MS, LONGEST_MS);
      try {
        const payload = await port.invoke(job.nodeId, "system.run", payloadFor(job, consent), {
          timeoutMs,
          idempotencyKey: consent?.by === "person" ? `${job.runId}:approved` : job.runId,
          ...(signal === undefined ? {} : { signal }),
        });
        return { kind: "finished", nodeId: job.nodeId, finished: finishedOf(payload, job, startedAt, clock.now()) };
      } catch (error) {
        return askedOrThrown(error, job, consent);
      }
    },
  };
}

function jobOf(request: NodeRequest, node: NodeFacts, ask: Route["ask"]): NodeJob {
  const { runId, command, cwd, env = {}, timeoutMs, agent, session } = request;
  return {
    runId,
    nodeId: node.nodeId,
    nodeName: visible(node.displayName ?? node.nodeId.slice(0, 12), 60),
    platform: node.platform,
    command,
    argv: shellArgv(command, node.platform),
    ...(cwd === undefined ? {} : { cwd }),
    env,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    agent,
    session,
    ask,
  };
}

/** Chosen by the platform that the node reports; the node's own shell settings are not used. */
export function shellArgv(command: string, platform: string): readonly string[] {
  return /^win/i.test(platform.trim()) ? ["cmd.exe", "/d", "/s", "/c", command] : ["/bin/sh", "-lc", command];
}

/**
 * The recorded fields of `system.run`, plus the plan for nodes that compare it
 * (docs/decisions/0029-node-run-needs-a-recorded-approval.md).
 */
function payloadFor(job: NodeJob, consent: NodeConsent | undefined): Record<string, unknown> {
  const { runId, nodeId, command, argv, cwd, env, timeoutMs, agent, session, frozen } = job;
  const place = { ...(cwd === undefined ? {} : { cwd }), ...(Object.keys(env).length === 0 ? {} : { env }) };
  const always =
    consent?.by === "person" && consent.decision === "allow-always" && rememberedOnNode(command) !== undefined;
  const decision = always ? "allow-always" : "allow-once";
  return {
    command: argv,
    rawCommand: command,
    ...place,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    agentId: agent,
    sessionKey: session,
    runId,
    approved: consent !== undefined,
    ...(consent === undefined
      ? {}
      : {
          approvalDecision: decision,
          plan: {
            nodeId,
            argv,
            ...place,
            agentId: agent,
            sessionKey: session,
            approvalId: runId,
            ...(frozen === undefined ? {} : { frozen }),
          },
        }),
  };
}

function finishedOf(payload: unknown, job: NodeJob, startedAt: number, endedAt: number): Finished {
  const answer = isRecord(payload) ? payload : {};
  const parts = [answer["stdout"], answer["stderr"], answer["error"]].filter(
    (part): part is string => typeof part === "string" && part !== "",
  );
  const whole = parts.map((part) => withNewline(safeText(Buffer.from(part)))).join("");
  const code = typeof answer["exitCode"] === "number" ? answer["exitCode"] : answer["success"] === true ? 0 : null;
  return {
    exit: { code, endedAt, ...(answer["timedOut"] === true ? { reason: "timeout" as const } : {}) },
    aggregated: whole.slice(-AGGREGATE_CHARS).toWellFormed(),
    truncated: whole.length > AGGREGATE_CHARS || answer["truncated"] === true,
    startedAt,
    timeoutMs: job.timeoutMs,
    cwd: job.cwd,
  };
}

const withNewline = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** A node without this command keeps its file private. A node that offers it but does not answer gets no run. */
async function approvalsOf({ nodeId, commands }: NodeFacts, port: NodePort): Promise<unknown> {
  if (!commands.includes("system.execApprovals.get")) return undefined;
  try {
    const options = { timeoutMs: APPROVALS_MS, idempotencyKey: `${nodeId}:approvals` };
    const snapshot = await port.invoke(nodeId, "system.execApprovals.get", {}, options);
    return isRecord(snapshot) ? snapshot["file"] : undefined;
  } catch (error) {
    throw nodeError(error, nodeId.slice(0, 12));
  }
}

function denied(node: NodeFacts, reason: string, security: string): ToolError {
  const name = visible(node.displayName ?? node.nodeId, 60);
  return new ToolError("exec.denied", `exec denied on node ${name}: ${reason} (host=node)`, {
    hint: `openclaw approvals get --node ${quoted(name)}`,
    details: { refused: true, host: "node", nodeId: node.nodeId, security, reason },
  });
}

const DENIED = /^(SYSTEM_RUN_(?:DENIED|DISABLED)): *(.*)$/s;

/** A node that requires approval can be asked again with one; a refusal despite approval is final. */
function askedOrThrown(error: unknown, job: NodeJob, consent: NodeConsent | undefined): NodeOutcome {
  const [, , why = ""] = DENIED.exec(failureOf(error)?.message ?? "") ?? [];
  if (job.ask !== "off" && consent === undefined && /approval required|allowlist miss/i.test(why))
    return { kind: "ask", reason: why.replaceAll(" ", "-") };
  throw refusalOf(error, job);
}

function refusalOf(error: unknown, job: NodeJob): unknown {
  const [, word, why] = DENIED.exec(failureOf(error)?.message ?? "") ?? [];
  if (why === undefined) return nodeError(error, job.nodeName);
  return new ToolError("exec.denied", `${word}: ${visible(why, 200)} (node ${job.nodeName})`, {
    hint: `openclaw approvals get --node ${quoted(job.nodeName)}`,
    details: { refused: true, host: "node", nodeId: job.nodeId, reason: why.replaceAll(" ", "-") },
  });
}

function frozenHashIn(answer: unknown): string {
  const frozen = isRecord(answer) ? answer["frozen"] : undefined;
  if (typeof frozen === "string" && frozen !== "" && frozen.length <= 200) return frozen;
  throw new OpenClawError("node.failed", `answered ${PREPARE} without a hash of what it would start`);
}

/** Tells the model whether the command may have run. */
function nodeError(error: unknown, name: string): unknown {
  if (!(error instanceof OpenClawError)) return error;
  const { code, message } = error;
  const answer = failureOf(error);
  const known: Readonly<Record<string, readonly [string, string]>> = {
    "node.not-connected": ["exec.node-away", `node ${name} disconnected; it is not known whether the command ran`],
    "node.timeout": ["exec.node-silent", `node ${name} did not answer in time; the command may still be running there`],
    "node.failed": ["exec.node-failed", `the node ${name}: ${visible(message, 500)}`],
    "node.no-command": ["exec.node-cannot-run", `node ${name} cannot run commands (it does not offer system.run)`],
  };
  const [mine, text] = known[code] ?? [code, message];
  return new ToolError(mine, text, {
    hint: "openclaw gateway call node.list",
    details: { host: "node", ...(answer === undefined ? {} : { nodeError: answer }) },
    cause: error,
  });
}
