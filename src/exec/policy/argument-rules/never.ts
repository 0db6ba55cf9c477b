// Programs that no allowlist entry covers, because they run what their arguments, input or folder contain.
import groups from "../data/never-allowlisted.json" with { type: "json" };

interface NeverAllowlisted {
  readonly group: string;
  /** Follows the name of the program in a sentence. */
  readonly reason: string;
}

export const neverByAllowlist: ReadonlyMap<string, NeverAllowlisted> = new Map(
  groups.flatMap((group) => group.programs.map((name): [string, NeverAllowlisted] => [name, group])),
);

export const isShell = (name: string): boolean => neverByAllowlist.get(name)?.group === "shell";
