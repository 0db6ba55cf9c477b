// The self-attack: every bundled case against the user's own config in a throw-away state; a score per area, every open hole.
import { setTimeout as sleep } from "node:timers/promises";

import type { Env, Paths } from "../../base/paths.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { OpenClawError } from "../../core/error.ts";

import { attacks, controls } from "./attacks/all.ts";
import { blameFor } from "./find-cause.ts";
import { areaOf, areas, type Area, type Attack, type Control } from "./case.ts";
import { BROKE, judgeAttack, judgeControl, lateHarm, type Verdict } from "./judge.ts";
import { notesOf } from "./notes.ts";
import { takenAway } from "./disabled-features.ts";
import { openEnvironment, type TestEnvironment } from "./environment.ts";

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
  /** Ends between two attacks; the ground is cleared all the same. */
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
    // Everyday use comes first, on fresh ground: afterwards the gateway may have shut the door on this address.
    const step = (done: number): void => {
      if (signal?.aborted === true) throw new OpenClawError("selftest.stopped", "stopped; nothing was left behind");
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
      notes: [...(await notesOf(environment)), ...used.left],
    };
  } finally {
    await environment.close();
  }
}

interface Used {
  readonly cases: number;
  readonly broken: SelftestReport["controls"]["broken"];
  /** Why some were left out. */
  readonly left: ReadonlySet<string>;
}

async function useAll(
  everyday: readonly Control[],
  environment: TestEnvironment,
  progress: (done: number) => void,
): Promise<Used> {
  const broken: { id: string; does: string; why: string }[] = [];
  const left = new Set<string>();
  let cases = 0;
  for (const [index, control] of everyday.entries()) {
    progress(index);
    const reason = takenAway(control, environment);
    if (reason !== undefined) {
      left.add(reason);
      continue;
    }
    cases += 1;
    const { hole } = await judgeControl(control, environment);
    if (hole !== undefined) broken.push({ id: control.id, does: control.does, why: hole });
  }
  return { cases, broken, left };
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
    const slot = holes.has(attack.id) ? undefined : lateHarm(attack, environment);
    if (slot !== undefined) holes.set(attack.id, holeOf(attack, { ended: "done" }, slot, environment));
  }
  return [...holes.values()];
}

function holeOf(attack: Attack, { ended }: Pick<Verdict, "ended">, hole: string, environment: TestEnvironment): Hole {
  const blame = hole.startsWith(BROKE) ? undefined : blameFor(attack, environment);
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
