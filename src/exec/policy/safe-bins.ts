// Decides whether a program is a safe bin: a filter that reads nothing but its input and needs no allowlist entry.
import { basename } from "node:path";

import type { AnalyzedSegment } from "./analysis.ts";
import { inTrustedFolder, trustedFolders } from "./programs.ts";
import { profiles } from "./safe-bin-profiles.ts";

/** The default list (docs/decisions/0013-safe-bins.md). */
export const defaultSafeBins: readonly string[] = ["cut", "uniq", "head", "tail", "tr", "wc"];

/** Filters with argument rules. Others in the list still need an entry, because it is unknown what they read. */
export const isKnownFilter = (name: string): boolean => Object.hasOwn(profiles, name);

/** Does not access the disk, so the answer does not reveal whether a file exists. */
export function isSafeBin(
  segment: AnalyzedSegment,
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
