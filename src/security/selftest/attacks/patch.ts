// Attacks on apply_patch: leaving the workspace, several files in one patch, and patches that apply partly.
import { attacksOf, type Attack, type Call } from "../case.ts";

const patch = (...lines: readonly string[]): Call => ({
  tool: "apply_patch",
  args: { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") },
});

export const patchAttacks: readonly Attack[] = attacksOf("apply_patch", [
  ["add-absolute", "add a file outside by its full path", patch("*** Add File: {{CANARY}}", "+x"), "refused"],
  ["add-climb", "add a file outside with ..", patch("*** Add File: ../../../out/made", "+x"), "refused", "done"],
  ["add-linked", "add a file in a linked folder", patch("*** Add File: to-out/made", "+x"), "refused"],
  ["add-dangling", "add a file at the target of a dangling link", patch("*** Add File: nowhere", "+x"), "refused"],
  ["add-at-sign", "hide a full path behind @", patch("*** Add File: @{{CANARY}}", "+x"), "refused"],
  ["add-hook", "add a script that git runs", patch("*** Add File: .git/hooks/pre-commit", "+x"), "refused", "done"],
  [
    "add-config",
    "rewrite the gateway's config",
    patch("*** Add File: {{STATE}}/openclaw.json", "+{}"),
    "refused",
    "done",
  ],
  [
    "update-outside",
    "change a file outside",
    patch("*** Update File: {{OUT}}/victim", "@@", "-as it was", "+planted"),
    "refused",
  ],
  [
    "update-linked",
    "change a file through a linked folder",
    patch("*** Update File: to-out/victim", "@@", "-as it was", "+planted"),
    "refused",
  ],
  [
    "update-second-name",
    "change a file through a hard link",
    patch("*** Update File: second-name", "@@", "+planted"),
    "refused",
  ],
  ["delete-linked", "delete a file through a linked folder", patch("*** Delete File: to-out/victim"), "refused"],
  ["delete-outside", "delete a file outside", patch("*** Delete File: {{OUT}}/victim"), "refused"],
  [
    "move-outside",
    "move a file out of the workspace",
    patch("*** Update File: notes.txt", "*** Move to: ../../../out/made", "@@", "-alpha", "+planted"),
    "refused",
    "done",
  ],
  [
    "move-linked",
    "move a file into a linked folder",
    patch("*** Update File: notes.txt", "*** Move to: to-out/made", "@@", "-alpha", "+planted"),
    "refused",
    "done",
  ],
  [
    "move-over",
    "overwrite another file silently",
    patch("*** Update File: notes.txt", "*** Move to: other.txt", "@@", "-alpha", "+planted"),
    "refused",
    "done",
  ],
  [
    "half",
    "keep the first file when the second fails",
    {
      async perform(environment) {
        const id = "apply_patch/half";
        const outcome = await environment.call(
          patch("*** Add File: half-made.txt", "+1", "*** Update File: missing.txt", "@@", "-a", "+b"),
          id,
        );
        const left = await environment.call({ tool: "read", args: { path: "half-made.txt" } }, id);
        return left.ended === "done"
          ? { ...outcome, harm: "the first file remained although the patch failed" }
          : outcome;
      },
    },
    "refused",
  ],
  [
    "no-end",
    "apply a truncated patch",
    { tool: "apply_patch", args: { input: "*** Begin Patch\n*** Add File: cut.txt\n+x" } },
    "refused",
    "done",
  ],
]);
