// The next times of a job as lines for people.
import type { ShownJob } from "./cron-wire.ts";
import { oneLine } from "./print.ts";

export interface Previewed {
  readonly tz: string;
  readonly fires: readonly {
    readonly atMs: number;
    readonly local: string;
    readonly offset: string;
    readonly note?: string;
  }[];
  readonly job?: ShownJob;
}

export function firesText({ tz, fires, job }: Previewed): string[] {
  const title = oneLine(`${job === undefined ? "" : `${job.name}, `}times in ${tz}`);
  if (fires.length === 0) return [title, "never again"];
  return [
    title,
    ...fires.map(({ local, offset, note }) => `${local} ${offset}${note === undefined ? "" : `  ${note}`}`),
  ];
}
