// The self-attack: every bundled case against the user's own config in a throw-away state; a score per area, every open hole.
import type { Env, Paths } from "../../base/paths.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { attacks, controls } from "./attacks/all.ts";
import { blameFor } from "./blame.ts";
import { areaOf, areas, type Area, type Attack, type Control } from "./case.ts";
import { judgeAttack, judgeControl, lateHarm, type Verdict } from "./judge.ts";
import { notesOf } from "./notes.ts";
import { takenAway } from "./taken-away.ts";
import { openStage, type Stage } from "./stage.ts";

export interface Hole {
  readonly id: string;
  readonly area: Area;
  readonly wants: string;
  readonly expect: Attack["expect"];
  readonly ended: Verdict["ended"];
  /** How it showed. */
  readonly hole: string;
  /** The key that opens it; absent when no key does. */
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
  /** What could not be tried, and why. */
  readonly notes: readonly string[];
}

export interface SelftestOptions {
  readonly loaded: LoadedConfig;
  readonly paths: Paths;
  readonly env: Env;
  readonly agent?: string | undefined;
  readonly areas?: readonly Area[] | undefined;
  readonly progress?: (done: number, of: number) => void;
}

const LATE_MS = 400;

export async function selftest({
  areas: wanted = areas,
  progress,
  ...options
}: SelftestOptions): Promise<SelftestReport> {
  const chosen = attacks.filter((attack) => wanted.includes(areaOf(attack)));
  const stage = await openStage(options);
  try {
    const holes = new Map<string, Hole>();
    for (const [index, attack] of chosen.entries()) {
      progress?.(index, chosen.length + controls.length);
      const verdict = await judgeAttack(attack, stage);
      if (verdict.hole !== undefined) holes.set(attack.id, holeOf(attack, verdict, verdict.hole, stage));
    }
    await sleep(LATE_MS);
    for (const attack of chosen) {
      const late = holes.has(attack.id) ? undefined : lateHarm(attack, stage);
      if (late !== undefined) holes.set(attack.id, holeOf(attack, { ended: "done" }, late, stage));
    }
    const everyday = controls.filter(({ id }) => wanted.some((area) => id.startsWith(`${area}/`)));
    return await reportOf(chosen, everyday, [...holes.values()], stage, progress);
  } finally {
    await stage.close();
  }
}

async function reportOf(
  chosen: readonly Attack[],
  everyday: readonly Control[],
  holes: readonly Hole[],
  stage: Stage,
  progress: SelftestOptions["progress"],
): Promise<SelftestReport> {
  const broken: { id: string; does: string; why: string }[] = [];
  const notes = await notesOf(stage);
  const skipped = new Set<string>();
  for (const [index, control] of everyday.entries()) {
    progress?.(chosen.length + index, chosen.length + everyday.length);
    const reason = takenAway(control, stage);
    if (reason !== undefined) {
      skipped.add(reason);
      continue;
    }
    const { hole } = await judgeControl(control, stage);
    if (hole !== undefined) broken.push({ id: control.id, does: control.does, why: hole });
  }
  const tried = everyday.filter((control) => takenAway(control, stage) === undefined).length;
  return {
    ok: holes.length === 0 && broken.length === 0,
    agent: stage.agent,
    sandboxed: stage.sandboxed,
    cases: chosen.length,
    score: scoreOf(chosen.length - holes.length, chosen.length),
    areas: areas.flatMap((area) => areaScore(area, chosen, holes)),
    holes,
    controls: { cases: tried, working: tried - broken.length, broken },
    notes: [...notes, ...skipped],
  };
}

function holeOf(attack: Attack, { ended }: Pick<Verdict, "ended">, hole: string, stage: Stage): Hole {
  const blame = blameFor(attack, stage);
  const { id, wants, expect } = attack;
  return {
    id,
    area: areaOf(attack),
    wants,
    expect,
    ended,
    hole,
    ...(blame === undefined ? {} : { because: blame.key }),
    fix: blame?.fix ?? attack.fix,
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
