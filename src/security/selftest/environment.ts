// A temporary runtime over a fixture: tool calls take the usual path, and a real gateway on loopback starts on first use.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { resolvePaths, type Env, type Paths } from "../../base/paths.ts";
import { agentConfig } from "../../config/agents.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import type { AgentId } from "../../core/names.ts";
import { approvalsPath, inspectApprovals } from "../../exec/policy/file.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { ToolResult } from "../../tool/tool.ts";
import { openGatewayOver, type RunningGateway } from "../../app/gateway.ts";
import { openRuntime, type Runtime } from "../../app/runtime.ts";
import type { Call, Outcome } from "./call.ts";
import { copyApprovals, copyConfig } from "./config-copy.ts";
import { createFixture, type Fixture } from "./fixture.ts";

const CALL_TIMEOUT_MS = 20_000;
/** Attacks are quick; one that hangs must not delay the others. */
const COMMAND_TIMEOUT_S = 5;

export interface TestEnvironment {
  readonly fixture: Fixture;
  readonly runtime: Runtime;
  readonly agent: AgentId;
  /** By the config, for the agent's main session. */
  readonly sandboxed: boolean;
  /** Where commands run by the config. */
  readonly host: "sandbox" | "gateway" | "node";
  readonly call: (call: Call, id: string) => Promise<Outcome>;
  /** Port and secret of a real gateway over this runtime. */
  gateway(): Promise<{ readonly port: number; readonly token: string; readonly secretKind: "token" | "password" }>;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  /** The user's config; only read. */
  readonly loaded: LoadedConfig;
  readonly paths: Paths;
  readonly env: Env;
  readonly agent?: string | undefined;
}

export async function openEnvironment({ loaded, paths, env, agent }: EnvironmentOptions): Promise<TestEnvironment> {
  const fixture = createFixture();
  try {
    // Rejects an unknown agent before anything is opened.
    const attacked = subjectOf(agent === undefined ? {} : { agentId: agent }, loaded.config).agent;
    const runtime = await openCopiedRuntime(fixture, attacked, { loaded, paths, env });
    return createEnvironment(runtime, fixture, attacked);
  } catch (error) {
    fixture.close();
    throw error;
  }
}

async function openCopiedRuntime(
  fixture: Fixture,
  agent: AgentId,
  { loaded: real, paths: realPaths, env: realEnv }: EnvironmentOptions,
): Promise<Runtime> {
  const places = {
    state: fixture.state,
    workspace: fixture.workspace,
    agent,
    realHome: realPaths.home,
    token: fixture.token,
  };
  const config = copyConfig(real.parsed, places);
  writeFileSync(join(fixture.state, "openclaw.json"), JSON.stringify(config, null, 2), { mode: 0o600 });
  const approvals = copyApprovals(inspectApprovals(realPaths.state).file, places, [fixture.say]);
  writeFileSync(approvalsPath(fixture.state), JSON.stringify(approvals), { mode: 0o600 });
  const env: Env = {
    ...picked(realEnv, "PATH", "LANG", "SHELL", "TMPDIR", "USER", "LOGNAME"),
    HOME: fixture.home,
    SELFTEST_API_KEY: fixture.apiKey,
  };
  const paths = resolvePaths(env);
  const loaded = loadConfig({ paths, env });
  if (!loaded.valid)
    throw new OpenClawError("selftest.config", "the copy of the config is not valid", {
      hint: "openclaw config validate",
      details: { issues: loaded.issues },
    });
  return openRuntime({ paths, env, loaded, consoleLevel: "silent" });
}

function createEnvironment(runtime: Runtime, fixture: Fixture, agent: AgentId): TestEnvironment {
  const config = () => runtime.settings.now().config;
  const main = subjectOf({ agentId: agent }, config());
  const host = agentConfig(config(), main.agent)?.tools?.exec?.host ?? config().tools?.exec?.host ?? "sandbox";
  const isSandboxed = main.sandboxed && host === "sandbox";
  let running: Promise<RunningGateway> | undefined;
  return {
    fixture,
    runtime,
    agent: main.agent,
    sandboxed: main.sandboxed,
    host,
    async call({ tool, args, session }, id) {
      try {
        const who = session === undefined ? { agentId: main.agent } : { sessionKey: session };
        const subject = subjectOf({ ...who, model: modelFor(tool, config()) }, config());
        const result = await runtime.callTool({
          tool,
          args: fixture.fill(tool === "exec" ? { timeout: COMMAND_TIMEOUT_S, ...args } : args, id, isSandboxed),
          subject,
          caller: "selftest",
          timeoutMs: CALL_TIMEOUT_MS,
        });
        return outcomeOf(result);
      } catch (error) {
        return failureOf(error);
      }
    },
    async gateway() {
      running ??= openGatewayOver(runtime, { port: 0, bind: "loopback" }, { restart: () => {} });
      const { gateway } = await running;
      const secretKind = config().gateway?.auth?.mode === "password" ? "password" : "token";
      return { port: gateway.port, token: fixture.token, secretKind };
    },
    async close() {
      try {
        await (await running)?.close({ text: "the self-test has ended" });
        await runtime.close();
      } finally {
        fixture.close();
      }
    },
  };
}

/** apply_patch is offered to some models only; other tools are tested without a model, so that no provider rules apply. */
export function modelFor(tool: string, config: Config): string | undefined {
  if (tool !== "apply_patch") return undefined;
  const [first] = config.tools?.exec?.applyPatch?.allowModels ?? [];
  if (first === undefined) return "openai/gpt-5.2";
  return first.includes("/") ? first : `openai/${first}`;
}

function outcomeOf(result: ToolResult): Outcome {
  const output = JSON.stringify(result);
  const status = (result.details as { status?: unknown } | undefined)?.status;
  return { ended: status === "approval-pending" ? "asked" : "done", output };
}

/** Refused by a rule, or failed for another reason. */
export function failureOf(error: unknown): Outcome {
  if (!(error instanceof OpenClawError)) throw error;
  const output = JSON.stringify({ message: error.message, hint: error.hint, details: error.details });
  if (ruleOf(error) === "exec.nobody-to-ask") return { ended: "asked", output, code: error.code };
  return { ended: isRefusal(error) ? "refused" : "failed", output, code: error.code };
}

/** Without a connected client, a question becomes a refusal; its rule shows that it was a question. */
function ruleOf({ details }: OpenClawError): unknown {
  return typeof details === "object" && details !== null && "rule" in details ? details.rule : undefined;
}

function isRefusal({ code, details }: OpenClawError): boolean {
  const marked = typeof details === "object" && details !== null && "refused" in details && details.refused === true;
  return (
    marked ||
    /^(?:tool\.(?:refused|unknown|unavailable|bad-arguments)|fs\.|sandbox\.|approval|exec\.|session\.|agent\.|gateway\.|patch\.)/.test(
      code,
    )
  );
}

function picked(env: Env, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
