// A fix must be true, needed to the last edit, and free nothing in silence: tried on random policies.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { getAt, parsePath } from "../../config/path.ts";
import { allowedTools, decide } from "./decide.ts";
import { canonicalName } from "./groups.ts";
import { membersOf, vocabularyOf } from "./match.ts";
import { applyEdits } from "./path.ts";
import { anyPolicy, anyTool, checkProperty } from "./policy.cases.ts";
import type { Edit, PolicyInput } from "./shape.ts";
import { listWarnings } from "./warnings.ts";

void test("the fix turns the answer round, or says that none can", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, (policy, tool) => {
      const { allowed, fix, layers } = decide(policy, tool);
      if (fix === undefined || fix.edits.length === 0) {
        const barrier = layers.find(({ layer, verdict }) => layer === "subagent" && verdict === "block");
        assert.equal(barrier?.rule?.path, "built-in");
        return;
      }
      const fixed = edit(policy, fix.edits);
      assert.equal(decide(fixed, tool).allowed, !allowed);
      const errors = listWarnings(fixed.config, policy.universe).filter(({ level }) => level === "error");
      assert.deepEqual(errors, []);
      for (const { path, value } of fix.after) assert.deepEqual(getAt(fixed.config, parsePath(path)), value);
    }),
  );
});

void test("no edit of a fix is idle, and none frees a tool it does not mention", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, (policy, tool) => {
      const { allowed, fix } = decide(policy, tool);
      if (allowed || fix === undefined || hasSideEffects(tool, fix.edits)) return;
      // Entries added to a deny list do not open anything: they keep closed what the wider entry held.
      for (const needed of fix.edits.filter(({ op, path }) => op !== "add" || !path.endsWith(".deny"))) {
        const rest: Edit[] = fix.edits.filter((each) => each !== needed);
        assert.equal(decide(edit(policy, rest), tool).allowed, false);
      }
      if (!fix.summary.includes("also lifts")) assert.deepEqual(gained(policy, fix.edits, tool), []);
    }),
  );
});

/** exec carries apply_patch, and a profile that is set to full or a list that is moved changes more than one tool. */
function hasSideEffects(tool: string, edits: readonly Edit[]): boolean {
  return tool === "exec" || tool === "apply_patch" || edits.some(({ op }) => op === "set");
}

/** Tools that come with the edits, besides those the tool's own name stands for. */
function gained(policy: PolicyInput, edits: readonly Edit[], tool: string): string[] {
  const vocabulary = vocabularyOf(policy.universe);
  const meant = new Set(membersOf(vocabulary.entry(tool, 0), vocabulary));
  const had = new Set(allowedTools(policy));
  return allowedTools(edit(policy, edits)).filter((name) => !had.has(name) && !meant.has(canonicalName(name)));
}

function edit(policy: PolicyInput, edits: readonly Edit[]): PolicyInput {
  return { ...policy, config: applyEdits(policy.config, edits) };
}
