// Reads the tables of attack cases and of everyday calls that must stay allowed. README.md explains every id.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface CorpusCase<Input = unknown> {
  readonly id: string;
  readonly area: string;
  readonly tool: string;
  readonly input: Input;
  readonly expect: "deny" | "error" | "ask" | "allow" | "sanitise";
  readonly claim: string;
}

export function readCases<Input>(table: "cases" | "controls"): readonly CorpusCase<Input>[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, `${table}.json`), "utf8")) as CorpusCase<Input>[];
}
