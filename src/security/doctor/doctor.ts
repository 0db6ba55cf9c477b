// The doctor: runs every check in reading order, and repairs what is safe to repair.
import { approvals } from "./approvals.ts";
import { security } from "./audit.ts";
import { repairAll, type Repaired } from "../repair.ts";
import type { Check, CheckContext, Finding } from "./check.ts";
import { config } from "./config.ts";
import { exposure } from "./exposure.ts";
import { fileModes } from "./file-modes.ts";
import { gateway } from "./gateway.ts";
import { guard } from "./guard.ts";
import { hooks } from "./hooks.ts";
import { mcp } from "./mcp.ts";
import { node } from "./node.ts";
import { sandbox } from "./sandbox.ts";
import { secret } from "./secret.ts";
import { state } from "./state.ts";
import { store } from "./store.ts";
import { toolLists } from "./tool-lists.ts";

const checks: readonly Check[] = [
  node,
  state,
  fileModes,
  config,
  toolLists,
  secret,
  exposure,
  sandbox,
  approvals,
  guard,
  hooks,
  mcp,
  security,
  store,
  gateway,
];

export interface CheckedFinding {
  readonly check: string;
  readonly finding: Finding;
}

export interface Diagnosis {
  readonly findings: readonly CheckedFinding[];
  readonly repairs: readonly Repaired[];
}

// A repair may reveal the next problem, such as a missing token in a config that could not be read.
const MAX_ROUNDS = 3;

/** `contextNow` reads the config again: repairs change it. */
export async function diagnose(contextNow: () => CheckContext, fix: boolean): Promise<Diagnosis> {
  const repairs: Repaired[] = [];
  let findings = await runChecks(contextNow());
  for (let round = 0; fix && round < MAX_ROUNDS && isRepairable(findings); round++) {
    repairs.push(...(await repairAll(findings.map(({ finding }) => finding))));
    findings = await runChecks(contextNow());
  }
  return { findings, repairs };
}

const isRepairable = (findings: readonly CheckedFinding[]): boolean =>
  findings.some(({ finding }) => finding.repair !== undefined);

async function runChecks(context: CheckContext): Promise<CheckedFinding[]> {
  const all: CheckedFinding[] = [];
  for (const check of checks) {
    const findings = check.needsConfig && !context.loaded.valid ? skipped : await check.run(context);
    all.push(...findings.map((finding): CheckedFinding => ({ check: check.name, finding })));
  }
  return all;
}

const skipped: readonly Finding[] = [{ level: "note", message: "skipped, because the config is not valid" }];
