// The self-test: runs every bundled attack on a copy of the user's config and scores each area.
import { setTimeout as sleep } from "node:timers/promises";

import type { Env, Paths } from "../../base/paths.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { OpenClawError } from "../../core/error.ts";

import { attacks, controls } from "./attacks/all.ts";
import { causeOf } from "./find-cause.ts";
import { areaOf, areas, type Area, type Attack, type Control } from "./case.ts";
import { BROKE, judgeAttack, judgeControl, lateHarm, type Verdict } from "./judge.ts";
import { notesOf } from "./notes.ts";
import { whyDisabled } from "./disabled-features.ts";
import { openEnvironment, type TestEnvironment } from "./environment.ts";

export interface Hole {
  readonly id: string;
  readonly area: Area;
  readonly wants: string;
  readonly expect: Attack["expect"];
  readonly ended: Verdict["ended"];
  /** How it was detected. */
  readonly hole: string;
  /** The key that opens it; absent when there is none. */
  readonly because?: string;
  readonly fix: string;
}

export interface AreaScore {
  readonly area: Area;
  readonly cases: number;
  readonly closed: number;
  /** 0 to 100; 100 only when every case is closed. */
  readonly score: number;
}

export interface SelftestReport {
  readonly ok: boolean;
  readonly agent: string;
  readonly sandboxed: boolean;
  readonly cases: number;
  readonly score: number;
  readonly areas: readonly AreaScore[];
  readonly holes: readonly Hole[];
  readonly controls: {
    readonly cases: number;
    readonly working: number;
    readonly broken: readonly { readonly id: string; readonly does: string; readonly why: string }[];
  };
  /** What could not be tested, and why. */
  readonly notes: readonly string[];
}

export interface SelftestOptions {
  readonly loaded: LoadedConfig;
  readonly paths: Paths;
  readonly env: Env;
  readonly agent?: string | undefined;
  readonly areas?: readonly Area[] | undefined;
  /** Stops between two attacks; temporary folders are removed in any case. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: (done: number, of: number) => void;
}

const LATE_MS = 400;

export async function selftest({
  areas: wanted = areas,
  progress,
  signal,
  ...options
}: SelftestOptions): Promise<SelftestReport> {
  const chosen = attacks.filter((attack) => wanted.includes(areaOf(attack)));
  const everyday = controls.filter(({ id }) => wanted.some((area) => id.startsWith(`${area}/`)));
  const of = chosen.length + everyday.length;
  const environment = await openEnvironment(options);
  try {
    // Everyday use comes first, because later the gateway may reject this address.
    const step = (done: number): void => {
      if (signal?.aborted === true) throw new OpenClawError("selftest.stopped", "stopped; no files were left behind");
      progress?.(done, of);
    };
    const used = await useAll(everyday, environment, step);
    const holes = await attackAll(chosen, environment, (done) => step(everyday.length + done));
    return {
      ok: holes.length === 0 && used.broken.length === 0,
      agent: environment.agent,
      sandboxed: environment.sandboxed,
      cases: chosen.length,
      score: scoreOf(chosen.length - holes.length, chosen.length),
      areas: areas.flatMap((area) => areaScore(area, chosen, holes)),
      holes,
      controls: { cases: used.cases, working: used.cases - used.broken.length, broken: used.broken },
      notes: [...(await notesOf(environment)), ...used.skipped],
    };
  } finally {
    await environment.close();
  }
}

interface EverydayResult {
  readonly cases: number;
  readonly broken: SelftestReport["controls"]["broken"];
  /** Why some were skipped. */
  readonly skipped: ReadonlySet<string>;
}

async function useAll(
  everyday: readonly Control[],
  environment: TestEnvironment,
  progress: (done: number) => void,
): Promise<EverydayResult> {
  const broken: { id: string; does: string; why: string }[] = [];
  const skipped = new Set<string>();
  let cases = 0;
  for (const [index, control] of everyday.entries()) {
    progress(index);
    const reason = whyDisabled(control, environment);
    if (reason !== undefined) {
      skipped.add(reason);
      continue;
    }
    cases += 1;
    const { hole } = await judgeControl(control, environment);
    if (hole !== undefined) broken.push({ id: control.id, does: control.does, why: hole });
  }
  return { cases, broken, skipped };
}

async function attackAll(
  chosen: readonly Attack[],
  environment: TestEnvironment,
  progress: (done: number) => void,
): Promise<Hole[]> {
  const holes = new Map<string, Hole>();
  for (const [index, attack] of chosen.entries()) {
    progress(index);
    const verdict = await judgeAttack(attack, environment);
    if (verdict.hole !== undefined) holes.set(attack.id, holeOf(attack, verdict, verdict.hole, environment));
  }
  await sleep(LATE_MS);
  for (const attack of chosen) {
    const harm = holes.has(attack.id) ? undefined : lateHarm(attack, environment);
    if (harm !== undefined) holes.set(attack.id, holeOf(attack, { ended: "done" }, harm, environment));
  }
  return [...holes.values()];
}

function holeOf(attack: Attack, { ended }: Pick<Verdict, "ended">, hole: string, environment: TestEnvironment): Hole {
  const cause = hole.startsWith(BROKE) ? undefined : causeOf(attack, environment);
  const { id, wants, expect } = attack;
  return {
    id,
    area: areaOf(attack),
    wants,
    expect,
    ended,
    hole,
    ...(cause === undefined ? {} : { because: cause.key }),
    fix: cause?.fix ?? attack.fix,
  };
}

function areaScore(area: Area, chosen: readonly Attack[], holes: readonly Hole[]): AreaScore[] {
  const cases = chosen.filter((attack) => areaOf(attack) === area).length;
  if (cases === 0) return [];
  const closed = cases - holes.filter((hole) => hole.area === area).length;
  return [{ area, cases, closed, score: scoreOf(closed, cases) }];
}

/** Rounded down, so that 100 means all. */
function scoreOf(closed: number, cases: number): number {
  return cases === 0 ? 100 : Math.floor((closed / cases) * 100);
}
