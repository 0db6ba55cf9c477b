// Parses `system.run`: checks its shape, that its text matches, and an approval against its plan.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../../core/error.ts";
import { checker, Type, type Static } from "../../core/schema.ts";
import { newId } from "../../base/ids.ts";
import { requireMatchingText, shellText } from "../grant-for-run.ts";

const maybe = <S extends Parameters<typeof Type.Optional>[0]>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const variables = Type.Record(Type.String(), Type.String());

/** Unknown fields of newer gateways are ignored; every field that matters is listed. */
const RunParamsSchema = Type.Object({
  command: Type.Array(Type.String({ maxLength: 200_000 }), { minItems: 1, maxItems: 10_000 }),
  rawCommand: maybe(Type.String()),
  cwd: maybe(Type.String()),
  env: maybe(variables),
  timeoutMs: maybe(Type.Number({ minimum: 0 })),
  needsScreenRecording: maybe(Type.Boolean()),
  agentId: maybe(Type.String()),
  sessionKey: maybe(Type.String()),
  runId: maybe(Type.String({ maxLength: 200 })),
  approved: maybe(Type.Boolean()),
  approvalDecision: maybe(Type.String()),
  plan: maybe(
    Type.Object({
      nodeId: Type.String(),
      argv: Type.Array(Type.String()),
      cwd: maybe(Type.String()),
      env: maybe(variables),
      agentId: maybe(Type.String()),
      sessionKey: maybe(Type.String()),
      approvalId: Type.String({ minLength: 1, maxLength: 200 }),
      frozen: maybe(Type.String({ maxLength: 200 })),
    }),
  ),
});
type RunParams = Static<typeof RunParamsSchema>;
const runParams = checker(RunParamsSchema);

export interface RunRequest {
  readonly argv: readonly string[];
  /** The command line, when `argv` only starts a shell with it. */
  readonly script: string | undefined;
  /** For people, logs and notes. */
  readonly text: string;
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
  /** `*` without an agent; then only rules for all agents apply. */
  readonly agent: string;
  readonly session: string | undefined;
  readonly runId: string;
  readonly consent: Consent | undefined;
}

/** The gateway's statement that this run is approved (docs/decisions/0029-node-run-needs-a-recorded-approval.md). */
export interface Consent {
  readonly approvalId: string;
  readonly always: boolean;
  /** The answer of `system.run.prepare` from before the question. */
  readonly frozen?: string;
}

/** Throws `wire.invalid-request`, `node.other-text`, `node-host.no-screen`, `node-host.unplanned`. */
export function parseRun(raw: unknown, nodeId: string): RunRequest {
  const params = checked(raw);
  const { command: argv, cwd, env, timeoutMs, agentId, sessionKey, runId } = params;
  if (params.needsScreenRecording === true)
    throw new OpenClawError("node-host.no-screen", "PERMISSION_MISSING: this node has no screen to record");
  requireMatchingText(params);
  const script = argv[0] === "/bin/sh" ? shellText(argv) : undefined;
  return {
    argv,
    script,
    text: script ?? quoteArgv(argv),
    cwd: cwd === null || cwd?.trim() === "" ? undefined : cwd,
    env: env ?? {},
    timeoutMs: timeoutMs === null || timeoutMs === 0 ? undefined : timeoutMs,
    agent: given(agentId) ?? "*",
    session: given(sessionKey),
    runId: given(runId) ?? newId(),
    consent: params.approved === true ? consentIn(params, nodeId) : undefined,
  };
}

/** Quotes every argument, so that a shell grammar reads it as one word. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

function checked(raw: unknown): RunParams {
  const command = typeof raw === "object" && raw !== null && "command" in raw ? raw.command : undefined;
  if (!Array.isArray(command) || command.length === 0) throw invalid("command required");
  const params = runParams.parse(raw, "wire.invalid-request", "system.run params");
  const words = [...params.command, params.cwd ?? ""];
  if (params.command[0] === "" || words.some((word) => word.includes("\0") || !word.isWellFormed()))
    throw invalid("command and cwd must be plain text");
  return params;
}

/** An approval needs a plan that matches this command exactly. */
function consentIn({ plan, approvalDecision, ...params }: RunParams, nodeId: string): Consent {
  const isThis =
    plan !== undefined &&
    plan !== null &&
    plan.nodeId === nodeId &&
    isDeepStrictEqual(plan.argv, params.command) &&
    isDeepStrictEqual({ ...plan.env }, { ...params.env }) &&
    (["cwd", "agentId", "sessionKey"] as const).every((key) => (plan[key] ?? null) === (params[key] ?? null));
  if (!isThis)
    throw new OpenClawError(
      "node-host.unplanned",
      "SYSTEM_RUN_DENIED: approved, but without a gateway plan for exactly this command",
    );
  const frozen = given(plan.frozen);
  return {
    approvalId: plan.approvalId,
    always: approvalDecision === "allow-always",
    ...(frozen === undefined ? {} : { frozen }),
  };
}

const given = (word: string | null | undefined): string | undefined =>
  word === null || word === undefined || word.trim() === "" ? undefined : word;

const invalid = (message: string): OpenClawError => new OpenClawError("wire.invalid-request", message);
