// The next times of a job as lines for people.
import type { MethodResult } from "../protocol/method-map.ts";
import { oneLine } from "./print.ts";

export function firesText({ tz, fires, job }: MethodResult<"cron.preview">): string[] {
  const title = oneLine(`${job === undefined ? "" : `${job.name}, `}times in ${tz}`);
  if (fires.length === 0) return [title, "never again"];
  return [
    title,
    ...fires.map(({ local, offset, note }) => `${local} ${offset}${note === undefined ? "" : `  ${note}`}`),
  ];
}
