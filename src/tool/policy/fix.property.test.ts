// Properties of a fix, checked on random policies: it works, every edit is needed, and it names every side effect.
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

void test("the fix reverses the decision, or says that no edit can", () => {
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

void test("every edit of a fix is needed, and every further tool it allows is mentioned", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, (policy, tool) => {
      const { allowed, fix } = decide(policy, tool);
      if (allowed || fix === undefined || hasSideEffects(tool, fix.edits)) return;
      // Entries added to a deny list allow nothing: they keep denied what the wider entry denied.
      for (const needed of fix.edits.filter(({ op, path }) => op !== "add" || !path.endsWith(".deny"))) {
        const rest: Edit[] = fix.edits.filter((each) => each !== needed);
        assert.equal(decide(edit(policy, rest), tool).allowed, false);
      }
      if (!fix.summary.includes("also lifts")) assert.deepEqual(gained(policy, fix.edits, tool), []);
    }),
  );
});

/** exec implies apply_patch, and setting a profile to full or moving a list changes more than one tool. */
function hasSideEffects(tool: string, edits: readonly Edit[]): boolean {
  return tool === "exec" || tool === "apply_patch" || edits.some(({ op }) => op === "set");
}

/** Tools that the edits allow besides those that the tool's own name means. */
function gained(policy: PolicyInput, edits: readonly Edit[], tool: string): string[] {
  const vocabulary = vocabularyOf(policy.universe);
  const meant = new Set(membersOf(vocabulary.entry(tool, 0), vocabulary));
  const had = new Set(allowedTools(policy));
  return allowedTools(edit(policy, edits)).filter((name) => !had.has(name) && !meant.has(canonicalName(name)));
}

function edit(policy: PolicyInput, edits: readonly Edit[]): PolicyInput {
  return { ...policy, config: applyEdits(policy.config, edits) };
}
