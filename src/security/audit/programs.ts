// Recognizes programs that run other programs or any code they are given; no arguments make them safe to run without approval.
import { basename } from "node:path";

import kinds from "./data/unsafe-programs.json" with { type: "json" };

const byName: ReadonlyMap<string, string> = new Map(
  kinds.flatMap(({ reason, programs }) => programs.map((name) => [name, reason] as const)),
);

/** Why a program is not safe; undefined when it is not listed. Ignores versions, as in `python3.12`. */
export function programKind(path: string): string | undefined {
  const name = basename(path).replace(/\.exe$/i, "");
  return byName.get(name) ?? byName.get(name.replace(/-?\d+(?:\.\d+)*$/, "")) ?? byName.get(name.toLowerCase());
}
