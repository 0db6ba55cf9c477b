// Reads the attack cases and controls about command lines from the tables in test/attack.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFixture, Rules } from "./fixture.cases.ts";

export interface AttackCase {
  readonly id: string;
  readonly area: string;
  readonly command: string;
  readonly rules: Rules;
  readonly expect: string;
}

interface RawCase {
  readonly id: string;
  readonly area: string;
  readonly tool: string;
  readonly expect: string;
  readonly input: {
    readonly params?: { readonly command?: string };
    readonly setup?: { readonly exec?: Rules; readonly allowlist?: Rules["allowlist"] };
  };
}

const folder = join(import.meta.dirname, "../../../test/attack");

export function attackCases(fixture: PolicyFixture): readonly AttackCase[] {
  return read("cases.json").flatMap((one) =>
    /^exec\.(?:shell-syntax|wrappers|safe-bins)$/.test(one.area) ? toCase(one, fixture) : [],
  );
}

export function controlCases(fixture: PolicyFixture): readonly AttackCase[] {
  return read("controls.json").flatMap((one) => (one.tool === "exec" ? toCase(one, fixture) : []));
}

function read(name: string): readonly RawCase[] {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as RawCase[];
}

/** Allowlisted programs that this machine lacks are allowed at the path of their stand-in. */
function toCase({ id, area, expect, input }: RawCase, fixture: PolicyFixture): AttackCase[] {
  const command = input.params?.command;
  if (command === undefined) return [];
  const listed = input.setup?.allowlist ?? [];
  const standIns = listed.flatMap((entry) =>
    typeof entry === "string" && !entry.includes("*") && !entry.includes("?")
      ? [join(fixture.bin, entry.split("/").at(-1) ?? "")]
      : [],
  );
  const rules: Rules = { ...input.setup?.exec, allowlist: [...listed, ...standIns] };
  return [{ id, area, command: filled(command, fixture), rules, expect }];
}

function filled(command: string, { workspace, out, root }: PolicyFixture): string {
  return command
    .replaceAll("{{CANARY}}", join(root, "canary"))
    .replaceAll("{{SECRET}}", join(out, "secret"))
    .replaceAll("{{WS}}", workspace)
    .replaceAll("{{OUT}}", out);
}
