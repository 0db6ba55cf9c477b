// Programs that may work on a stream without an entry: only in forms that read nothing but their input.
import { basename } from "node:path";

import type { AnalysedSegment } from "./analysis.ts";
import { inTrustedFolder, trustedFolders } from "./programs.ts";
import { profiles } from "./safe-bin-profiles.ts";

/** Ruling 13. */
export const defaultSafeBins: readonly string[] = ["cut", "uniq", "head", "tail", "tr", "wc"];

/** Those with rules for their arguments. Any other one that is listed still needs an entry: nobody here knows what it reads. */
export const isKnownFilter = (name: string): boolean => Object.hasOwn(profiles, name);

/** Never looks at the disk: the answer for a file that is there and one that is not is the same. */
export function isSafeBin(
  segment: AnalysedSegment,
  listed: readonly string[],
  folders: readonly string[] = trustedFolders,
): boolean {
  const { judged } = segment;
  const name = basename(judged.path);
  if (
    !listed.includes(name) ||
    segment.expanded ||
    Object.keys(segment.env).some((key) => !/^(?:LC_[A-Z]+|LANG)$/.test(key))
  )
    return false;
  if (!inTrustedFolder(judged, folders)) return false;
  const profile = isKnownFilter(name) ? profiles[name] : undefined;
  return profile?.(judged.argv.slice(1)) ?? false;
}
