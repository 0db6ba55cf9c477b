// Fixture for file tools: a workspace in a state folder, a secret beside it, and real tools bound to both.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { DEFAULT_AGENT, mainSessionKey } from "../../core/names.ts";
import { checker } from "../../core/schema.ts";
import { createLanes } from "../../base/lane.ts";
import type { Config } from "../../config/schema/index.ts";
import { badArguments } from "../argument-errors.ts";
import { prepareArguments } from "../arguments.ts";
import type { Tool, ToolCall, ToolResult } from "../tool.ts";
import type { FileToolDeps } from "./access.ts";
import { createApplyPatchTool } from "./apply-patch.ts";
import { createEditTool } from "./edit.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

export const SECRET = "S3CRET-CANARY";

export interface FileFixture {
  readonly home: string;
  readonly state: string;
  readonly ws: string;
  /** A folder beside the workspace whose name starts with the workspace's name; it contains `secret`. */
  readonly out: string;
  readonly deps: FileToolDeps;
  call(overrides?: Partial<ToolCall>): ToolCall;
  /** Runs a tool through prepare and the schema check, as call.ts does. */
  use(
    tool: "read" | "write" | "edit" | "apply_patch",
    args: Record<string, unknown>,
    overrides?: Partial<ToolCall>,
  ): Promise<ToolResult>;
  close(): void;
}

export function openFixture(
  over: {
    home?: string;
    state?: string;
    configPath?: string;
    protectedFolders?: FileToolDeps["protectedFolders"];
  } = {},
): FileFixture {
  const home = over.home ?? realpathSync(mkdtempSync(join(tmpdir(), "file-tools-")));
  const state = over.state ?? join(home, ".openclaw");
  const [ws, out] = [join(state, "workspace"), join(state, "workspace") + "-evil"];
  for (const folder of [join(ws, "sub"), out, join(state, "credentials"), join(state, "skills", "x")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(out, "secret"), `${SECRET}\n`);
  writeFileSync(join(home, ".bashrc"), `# ${SECRET}\n`);
  writeFileSync(join(state, "openclaw.json"), `{ gateway: { auth: { token: "${SECRET}" } } }\n`);
  writeFileSync(join(state, "exec-approvals.json"), `{ "socket": { "token": "${SECRET}" } }\n`);
  writeFileSync(join(state, "skills", "x", "SKILL.md"), "# x\n");
  const deps: FileToolDeps = {
    home,
    stateDir: state,
    configPath: over.configPath ?? join(state, "openclaw.json"),
    approvalsPath: join(state, "exec-approvals.json"),
    lanes: createLanes(),
    ...(over.protectedFolders === undefined ? {} : { protectedFolders: over.protectedFolders }),
  };
  const tools = new Map<string, Tool>(
    [createReadTool(deps), createWriteTool(deps), createEditTool(deps), createApplyPatchTool(deps)].map((tool) => [
      tool.name,
      tool as Tool,
    ]),
  );
  const call = (overrides: Partial<ToolCall> = {}): ToolCall => ({
    id: "call-1",
    turn: "turn-1",
    agent: DEFAULT_AGENT,
    session: mainSessionKey(DEFAULT_AGENT),
    config: {} as Config,
    workspace: ws,
    workspaceOnly: true,
    sandboxed: false,
    subagent: false,
    senderIds: [],
    hints: {},
    allows: () => true,
    signal: new AbortController().signal,
    progress: () => undefined,
    ...overrides,
  });
  return {
    home,
    state,
    ws,
    out,
    deps,
    call,
    async use(name, args, overrides) {
      const tool = tools.get(name);
      assert.ok(tool !== undefined);
      const checked = prepareArguments(tool, args);
      const issues = checker(tool.params).issues(checked);
      if (issues.length > 0) throw badArguments(tool, checked, issues);
      tool.intent(checked, call(overrides));
      return tool.run(checked, call(overrides));
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

export interface Outcome {
  /** `ok`, or the error's code. */
  readonly code: string;
  readonly refused: boolean;
  /** All text that the caller sees. */
  readonly output: string;
}

/** Fails the test on anything except a typed error with a hint. */
export async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return { code: "ok", refused: false, output: JSON.stringify(await work) };
  } catch (error) {
    assert.ok(error instanceof OpenClawError, `not a typed error: ${String(error)}`);
    assert.ok(
      error.code === "tool.aborted" || (error.hint ?? "") !== "",
      `${error.code} has no hint: ${error.message}`,
    );
    const { refused = false, rule = "" } = (error.details ?? {}) as { refused?: boolean; rule?: string };
    assert.equal(refused, rule !== "", `${error.code}: a refusal must name its rule`);
    return {
      code: error.code,
      refused,
      output: `${error.message} ${error.hint ?? ""} ${JSON.stringify(error.details ?? null)}`,
    };
  }
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.mimeType}>`)).join("\n");
}
