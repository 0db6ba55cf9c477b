// Attacks by patch, and the everyday patches that must stay allowed, as data, and the fixture they run on.
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface PatchCase {
  readonly id: string;
  /** Between the markers, or whole when it holds one. Placeholders: {{WS}} {{OUT}} {{STATE}} {{HOME}}. */
  readonly patch: string;
  /** `deny`: a refusal that names its rule. `error`: a typed error. Both: nothing changes anywhere. */
  readonly expect: "deny" | "error" | "allow";
  readonly why: string;
}

const add = (path: string): string => `*** Add File: ${path}\n+x`;
const update = (path: string): string => `*** Update File: ${path}\n@@\n-a\n+b`;
const remove = (path: string): string => `*** Delete File: ${path}`;
const move = (to: string): string => `*** Update File: ok.txt\n*** Move to: ${to}\n@@\n-a\n+b`;

const deny = (id: string, patch: string, why: string): PatchCase => ({ id, patch, expect: "deny", why });
const error = (id: string, patch: string, why: string): PatchCase => ({ id, patch, expect: "error", why });
const allow = (id: string, patch: string, why: string): PatchCase => ({ id, patch, expect: "allow", why });

export const patchCases: readonly PatchCase[] = [
  deny("P01", add("{{OUT}}/new"), "absolute, in a neighbor whose name begins alike"),
  deny("P02", update("{{OUT}}/victim"), "change of a file outside"),
  deny("P03", remove("{{OUT}}/victim"), "removal outside"),
  deny("P04", add("../new"), "steps up"),
  deny("P05", add("sub/../../new"), "down and up"),
  deny("P06", add("~/new"), "home"),
  deny("P07", add("@~/new"), "a mark in front of home"),
  deny("P08", add("file:///etc/new"), "file URL"),
  deny("P09", add("linkdir/new"), "a linked folder"),
  deny("P10", add("linkdir/a/b/new"), "new folders in a linked folder"),
  deny("P11", update("link-to-victim"), "change through a link"),
  deny("P12", remove("link-to-victim"), "removal of a link"),
  deny("P13", update("hard-to-victim"), "second name of a file outside"),
  deny("P14", remove("hard-to-victim"), "removal of a second name"),
  deny("P15", `*** Update File: hard-to-victim\n*** Move to: stolen.txt`, "a copy by way of a second name"),
  deny("P16", `*** Update File: link-to-victim\n*** Move to: stolen.txt`, "a copy by way of a link"),
  deny("P17", move("{{OUT}}/new"), "move out"),
  deny("P18", move("dangling-link"), "move onto a link that points at nothing"),
  deny("P19", move(".git/config"), "move into git's folder"),
  deny("P20", add(".vscode/tasks.json"), "editor task"),
  deny("P21", add(".Git/config"), "case"),
  deny("P22", add("sub/.envrc"), "direnv, further down"),
  deny("P23", update("{{STATE}}/openclaw.json"), "the gateway's config"),
  deny("P24", add("{{STATE}}/hooks/x.js"), "gateway hook"),
  deny("P25", add("{{STATE}}/unfinished/0123456789abcdef/record.json"), "a record that would undo what never was"),
  deny("P26", `${add("good.txt")}\n${add("../bad.txt")}`, "a good part before a bad one"),
  deny("P27", `${remove("ok.txt")}\n${update("linkdir/victim")}`, "a removal before a bad part"),
  error("P28", add("ok.txt"), "addition over a file"),
  error("P29", add("sub"), "addition over a folder"),
  error("P30", remove("sub"), "removal of a folder"),
  error("P31", `${add("x/y")}\n${add("x")}`, "a name that is a file and a folder"),
  error("P32", "*** Run: touch /tmp/x", "a verb of another world"),
  error("P33", add("a\u0000b"), "NUL"),
  error("P34", add("x".repeat(400)), "name too long"),
  error("P35", `*** Update File: big.txt\n@@\n${" x\n".repeat(3000)}-y\n+z`, "a search that would take for ever"),
  allow("P36", `${add("fresh/deep.txt")}\n${remove("fresh-to-go.txt")}`, "plain addition and removal"),
  allow("P37", "*** Update File: {{WS}}/sub/in.txt\n@@\n-in\n+inner", "absolute, inside"),
  allow("P38", "*** Update File: near-link\n@@\n-near\n+nearer", "a link that stays inside"),
  allow("P39", add(".gitignore"), "not git's own"),
  allow("P40", "*** Update File: movable.txt\n*** Move to: moved/here.txt", "plain rename"),
];

/** Everything the cases speak of, and what the shared ones speak of. `ws`, `out` and `state` exist. */
export function layPatchFiles({ ws, out }: { readonly ws: string; readonly out: string }): void {
  mkdirSync(join(ws, "sub"), { recursive: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "victim"), "a\n");
  for (const [name, content] of [
    ["ok.txt", "a\n"],
    ["other.txt", "mine\n"],
    ["sub/in.txt", "in\n"],
    ["near.txt", "near\n"],
    ["fresh-to-go.txt", "x\n"],
    ["movable.txt", "x\n"],
    ["big.txt", "x\n".repeat(100_000)],
  ] as const)
    writeFileSync(join(ws, name), content);
  linkSync(join(out, "victim"), join(ws, "hard-to-victim"));
  for (const [name, target] of [
    ["linkdir", out],
    ["race", out],
    ["link-to-victim", join(out, "victim")],
    ["dangling-link", join(out, "new")],
    ["near-link", "near.txt"],
  ] as const)
    symlinkSync(target, join(ws, name));
}

export function fillPatch(patch: string, words: Readonly<Record<"WS" | "OUT" | "STATE" | "HOME", string>>): string {
  const filled = patch.replaceAll(/\{\{(WS|OUT|STATE|HOME)\}\}/g, (_all, name: keyof typeof words) => words[name]);
  return filled.startsWith("*** Begin Patch") ? filled : `*** Begin Patch\n${filled}\n*** End Patch`;
}
