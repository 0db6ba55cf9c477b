// Runs every security check on one snapshot of config, files and machine and sorts the findings by weight. Changes nothing.
import { OpenClawError } from "../../core/error.ts";
import { describeIssue } from "../../config/issue.ts";
import { loadConfig } from "../../config/load.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { inspectApprovals, type ApprovalsSnapshot } from "../../exec/policy/file.ts";
import { checkAgents } from "./agents.ts";
import { checkApprovals } from "./approvals.ts";
import { checkChannels } from "./channels.ts";
import { checkCommands } from "./commands.ts";
import { checkExposure } from "./exposure.ts";
import { checkFiles } from "./files.ts";
import { weights, type Check, type Finding, type AuditContext, type Machine, type Weight } from "./finding.ts";
import { checkHooks } from "./hooks.ts";
import { checkMachine, thisMachine } from "./machine.ts";
import { checkPlugins } from "./plugins.ts";
import { checkSandbox } from "./sandbox.ts";
import { checkSecrets } from "./secrets.ts";
import { checkWeb } from "./web.ts";

export interface AuditReport {
  /** False when a critical or high finding exists. */
  readonly ok: boolean;
  readonly counts: Readonly<Record<Weight, number>>;
  /** Heaviest first. */
  readonly findings: readonly Finding[];
}

export interface AuditOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly deep?: boolean;
  readonly machine?: Machine;
}

const always: readonly Check[] = [checkFiles, checkMachine, checkApprovals];
/** Skipped while the config is invalid, because they would judge the defaults. */
const needConfig: readonly Check[] = [
  checkExposure,
  checkSandbox,
  checkCommands,
  checkAgents,
  checkChannels,
  checkHooks,
  checkPlugins,
  checkSecrets,
  checkWeb,
];

export async function audit({ paths, env, deep = false, machine }: AuditOptions): Promise<AuditReport> {
  const loaded = loadConfig({ paths, env });
  const context: AuditContext = {
    paths,
    env: loaded.env,
    loaded,
    approvals: approvalsOf(paths),
    machine: machine ?? thisMachine(loaded, paths),
    deep,
  };
  const checks = loaded.valid ? [...always, ...needConfig] : [...always, checkInvalid];
  const found: Finding[] = [];
  for (const check of checks) found.push(...(await check(context)));
  return reportOf(found);
}

function reportOf(found: readonly Finding[]): AuditReport {
  const findings = found.toSorted(
    (a, b) => weights.indexOf(a.weight) - weights.indexOf(b.weight) || a.id.localeCompare(b.id),
  );
  const count = (weight: Weight): number => findings.filter((finding) => finding.weight === weight).length;
  const counts = Object.fromEntries(weights.map((weight) => [weight, count(weight)])) as Record<Weight, number>;
  return { ok: counts.critical + counts.high === 0, counts, findings };
}

function checkInvalid({ loaded }: AuditContext): Finding[] {
  return loaded.issues.slice(0, 20).map((issue): Finding => {
    const { path, file, line, hint } = issue;
    return {
      id: "config.invalid",
      weight: "high",
      what: `the config is not valid: ${describeIssue(issue)}`,
      why: "the gateway does not start with it, and its rules could not be checked",
      where: { path, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) },
      fix: hint?.startsWith("openclaw ") === true ? hint : "openclaw config validate",
    };
  });
}

function approvalsOf({ state }: Paths): ApprovalsSnapshot | OpenClawError {
  try {
    return inspectApprovals(state);
  } catch (error) {
    if (error instanceof OpenClawError) return error;
    throw error;
  }
}
