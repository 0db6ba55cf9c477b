// A temporary workspace with real programs, and stand-ins for programs that this machine lacks; shared by several tests.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { analyze, type Analysis, type AnalysisContext } from "./analyze.ts";
import type { Ask, Security } from "../route.ts";
import { effectivePolicy, type AllowEntry } from "./effective.ts";
import { judge, type Judgment } from "./decide.ts";
import { identifyProgram } from "./programs.ts";
import { defaultSafeBins } from "./safe-bins.ts";

export interface PolicyFixture {
  readonly root: string;
  readonly workspace: string;
  readonly out: string;
  readonly bin: string;
  readonly context: AnalysisContext;
  close(): void;
}

const systemPath = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Programs that the attack cases name; missing ones get a stand-in that has no effect. */
const wanted =
  "rg git python3 node perl ruby php busybox npx npm pnpm yarn uvx pip cargo go bun deno rsync man less zip parallel tcpdump systemd-run at docker nsenter sudo ld.so gdb openclaw unshare strace script xargs ionice taskset setsid stdbuf time jq curl tar find sed awk".split(
    " ",
  );

export function openPolicyFixture(): PolicyFixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-approval-")));
  const [workspace, out, bin] = ["workspace", "out", "bin"].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [workspace, out, bin, join(workspace, "src")]) mkdirSync(folder);
  for (const file of ["a.ts", "b.ts", "safe.py", "other.py", "ok.js"]) writeFileSync(join(workspace, file), "");
  writeFileSync(join(out, "secret"), "S3CRET-CANARY\n");
  const path = [...systemPath, bin];
  for (const name of wanted) {
    if (identifyProgram(name, { cwd: root, path: systemPath }) !== undefined) continue;
    writeFileSync(join(bin, name), "#!/bin/sh\nexit 0\n");
    chmodSync(join(bin, name), 0o755);
  }
  const context: AnalysisContext = { cwd: workspace, workspace, home: join(root, "home"), path };
  return { root, workspace, out, bin, context, close: () => rmSync(root, { recursive: true, force: true }) };
}

export interface Rules {
  readonly security?: Security;
  readonly ask?: Ask;
  readonly safeBins?: readonly string[];
  readonly safeBinTrustedDirs?: readonly string[];
  readonly allowlist?: readonly (string | AllowEntry)[];
}

export async function decide(
  command: string,
  context: AnalysisContext,
  rules: Rules,
): Promise<{ analysis: Analysis; judgment: Judgment }> {
  const analysis = await analyze(command, context);
  const allowlist = (rules.allowlist ?? []).map((entry) => (typeof entry === "string" ? { pattern: entry } : entry));
  const policy = effectivePolicy(
    { security: rules.security ?? "allowlist", ask: rules.ask ?? "off" },
    { version: 1, agents: { main: { allowlist } } },
    "main",
  );
  const judgment = judge({
    analysis,
    policy,
    safeBins: rules.safeBins ?? defaultSafeBins,
    ...(rules.safeBinTrustedDirs === undefined ? {} : { safeBinFolders: rules.safeBinTrustedDirs }),
    home: context.home,
  });
  return { analysis, judgment };
}

/** "run", "ask", "deny", or "error" for text that is not a command line. */
export async function outcomeOf(command: string, context: AnalysisContext, rules: Rules): Promise<string> {
  try {
    return (await decide(command, context, rules)).judgment.outcome;
  } catch (error) {
    if (error instanceof Error && error.name === "OpenClawError") return "error";
    throw error;
  }
}
