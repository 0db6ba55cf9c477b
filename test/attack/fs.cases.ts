// Attacks on the file tools and the everyday calls that must stay allowed, as data, and the fixture they run on.
import { closeSync, ftruncateSync, linkSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export interface AttackCase {
  readonly id: string;
  readonly tool: "read" | "write" | "edit";
  /** Placeholders: {{WS}} {{WSNAME}} {{OUT}} {{STATE}} {{SECRET}} {{HOME}}. */
  readonly params: Readonly<Record<string, string>>;
  /** `deny`: a refusal that names its rule. `error`: a typed error. `sanitise`: may work, without the dangerous part. */
  readonly expect: "deny" | "error" | "sanitise" | "allow";
  readonly why: string;
  /** Bound to the workspace unless said otherwise. */
  readonly open?: true;
}

const LONG = "x".repeat(400);

const read = (id: string, path: string, expect: AttackCase["expect"], why: string, open?: true): AttackCase => ({
  id,
  tool: "read",
  params: { path },
  expect,
  why,
  ...(open ? { open } : {}),
});
const write = (id: string, path: string, expect: AttackCase["expect"], why: string, open?: true): AttackCase => ({
  id,
  tool: "write",
  params: { path, content: "x" },
  expect,
  why,
  ...(open ? { open } : {}),
});
const edit = (id: string, path: string, expect: AttackCase["expect"], why: string, open?: true): AttackCase => ({
  id,
  tool: "edit",
  params: { path, oldText: "a", newText: "b" },
  expect,
  why,
  ...(open ? { open } : {}),
});

export const fsCases: readonly AttackCase[] = [
  read("R01", "../../../../etc/passwd", "deny", "steps up"),
  read("R02", "/etc/passwd", "deny", "absolute"),
  read("R03", "~/.bashrc", "deny", "home"),
  read("R04", "@/etc/passwd", "deny", "a mark in front of an absolute path"),
  read("R05", "@~/.bashrc", "deny", "a mark in front of home"),
  read("R06", "file:///etc/passwd", "deny", "file URL"),
  read("R07", "file://localhost/etc/passwd", "deny", "file URL with a host"),
  read("R08", "{{WS}}/../{{WSNAME}}-evil/secret", "deny", "a neighbor whose name begins alike"),
  read("R09", "{{OUT}}/secret", "deny", "the neighbor itself"),
  read("R10", "sub/..%2f..%2fetc/passwd", "deny", "percent"),
  read("R11", "%252e%252e%252f%252e%252e%252fetc/passwd", "deny", "percent twice"),
  read("R12", "..\\..\\etc\\passwd", "deny", "backslashes"),
  read("R13", "．．／．．／etc／passwd", "deny", "full-width dots and slashes"),
  read("R14", "ok.txt\u0000.png", "error", "NUL"),
  read("R15", "/proc/self/environ", "deny", "environment"),
  read("R16", "/proc/self/environ", "deny", "environment, with the disk open", true),
  read("R17", "/proc/self/root/etc/passwd", "deny", "magic link"),
  read("R18", "/proc/self/root/etc/passwd", "deny", "magic link, with the disk open", true),
  read("R19", "/proc/1/cwd", "deny", "another process", true),
  read("R20", "/dev/zero", "deny", "endless device", true),
  read("R21", "/dev/stdin", "deny", "our own input", true),
  read("R22", "pipe", "deny", "a pipe would wait for ever"),
  read("R23", "\\\\evil\\share\\x", "deny", "network share"),
  read("R24", "//evil/share/x", "deny", "network share, slashes"),
  read("R25", "file://evil/share/x", "deny", "network share as URL", true),
  read("R26", "{{STATE}}/openclaw.json", "deny", "config"),
  read("R27", "{{STATE}}/openclaw.json", "deny", "config, with the disk open", true),
  read("R28", "{{STATE}}/exec-approvals.json", "deny", "approvals, with the disk open", true),
  read("R29", "{{STATE}}/credentials/x.json", "deny", "credentials, with the disk open", true),
  read("R30", "link1/../secret", "deny", "link, then up"),
  read("R31", "link1/secret", "deny", "linked folder"),
  read("R32", "link-to-secret", "deny", "linked file"),
  read("R33", "chain/secret", "deny", "a link to a link"),
  read("R34", "hard-to-secret", "deny", "second name"),
  read("R35", "loop", "deny", "a link to itself"),
  read("R36", "big.bin", "error", "two gigabytes"),
  read("R37", "sub", "error", "a folder"),
  read("R38", "\ud800", "error", "half a character"),
  read("R39", LONG, "error", "name too long"),
  read("R40", "config-link", "deny", "a link to the config, with the disk open", true),
  write("W01", "../../.bashrc", "deny", "shell start-up"),
  write("W02", "~/.ssh/authorized_keys", "deny", "log-in"),
  write("W03", "link-to-secret", "deny", "through a link"),
  write("W04", "link1/new", "deny", "new file in a linked folder"),
  write("W05", "link1/a/b/new", "deny", "new folders in a linked folder"),
  write("W06", "dangling", "deny", "a link to what is not there"),
  write("W07", "hard-to-secret", "deny", "second name"),
  write("W08", ".git/config", "deny", "git runs what it names"),
  write("W09", ".git/hooks/post-checkout", "deny", "git hook"),
  write("W10", "sub/.git/hooks/x", "deny", "git hook further down"),
  write("W11", ".Git/config", "deny", "case"),
  write("W12", ".git /config", "deny", "trailing blank"),
  write("W13", ".g\u200cit/config", "deny", "a character some disks ignore"),
  write("W14", ".envrc", "deny", "direnv"),
  write("W15", ".vscode/tasks.json", "deny", "editor task"),
  write("W16", ".MCP.json", "deny", "agent servers"),
  write("W17", "{{STATE}}/hooks/x.js", "deny", "gateway hook"),
  write("W18", "{{STATE}}/hooks/x.js", "deny", "gateway hook, with the disk open", true),
  write("W19", "{{STATE}}/plugins/x/index.js", "deny", "plugin, with the disk open", true),
  write("W20", "{{STATE}}/exec-approvals.json", "deny", "approvals, with the disk open", true),
  write("W21", "{{STATE}}/openclaw.json", "deny", "config, with the disk open", true),
  write("W22", "config-link", "deny", "config through a link, with the disk open", true),
  write("W23", "sub/\u202egnp.sh", "sanitise", "a name that reads backwards"),
  write("W24", "sub/a\u001b[2Jb", "sanitise", "a name that speaks to terminals"),
  write("W25", LONG, "error", "name too long"),
  write("W26", "new/\u0000", "error", "NUL"),
  write("W27", "/dev/sda", "deny", "device, with the disk open", true),
  write("W28", "/proc/sysrq-trigger", "deny", "the kernel's switches", true),
  write("W29", "pipe", "deny", "pipe"),
  write("W30", ".bashrc", "deny", "start-up file, should the workspace be a home"),
  write("W32", "sub/HEAD", "deny", "any folder with a HEAD is a repository to git"),
  write("W33", "new/deep/HEAD", "deny", "the same in a folder that is to be made"),
  write("W34", "sub/HEA\u200bD", "deny", "a character some disks ignore"),
  write("W36", ".git\\config", "deny", "a name that parts elsewhere"),
  write("W35", "sub/.hg/hgrc", "deny", "hg runs its hooks"),
  { id: "W31", tool: "write", params: { path: "huge.txt", content: "<1GB>" }, expect: "error", why: "too much" },
  edit("E01", "../../etc/hosts", "deny", "edit outside"),
  edit("E02", "link-to-secret", "deny", "edit through a link"),
  edit("E03", "hard-to-secret", "deny", "edit a second name"),
  edit("E04", "{{STATE}}/openclaw.json", "deny", "config, with the disk open", true),
  edit("E05", ".git/config", "deny", "git config"),
  edit("E06", "{{HOME}}/.bashrc", "deny", "start-up file outside"),
  read("A01", "src/app.ts", "allow", "inside"),
  read("A02", "{{WS}}/src/app.ts", "allow", "absolute, inside"),
  read("A03", "..hidden/file", "allow", "a name that begins with dots"),
  read("A04", "a b/ü.txt", "allow", "blanks and letters"),
  read("A05", `${"deep/".repeat(40)}x.txt`, "allow", "deep"),
  read("A06", "near-link", "allow", "a link that stays inside"),
  read("A07", "near-dir/app.ts", "allow", "a linked folder that stays inside"),
  read("A08", "node_modules/x/index.js", "allow", "package managers link files"),
  read("A09", "./src/./app.ts", "allow", "dots"),
  read("A10", "50%.txt", "allow", "a percent sign"),
  read("A11", "/etc/hostname-like", "error", "absolute, with the disk open, but missing", true),
  write("A12", "new/folder/file.md", "allow", "new folders"),
  write("A13", "package.json", "allow", "its scripts run only when asked"),
  write("A14", ".gitignore", "allow", "not git's own"),
  write("A15", "near-link", "allow", "through a link that stays inside"),
  write("A16", "{{OUT}}/notes.md", "allow", "anywhere, with the disk open", true),
  edit("A17", "src/app.ts", "allow", "plain edit"),
  write("A19", "src/head.ts", "allow", "a name that only begins alike"),
  write("A20", "docs/HEAD/notes.md", "allow", "a folder of that name"),
  write("A21", "sub/config", "allow", "a file of that name in no repository"),
  write("A18", "openclaw.json", "allow", "a file of that name in a project"),
];

/** Other spellings of a path that some reader somewhere takes for the same. */
export const pathMutators: Record<string, (path: string) => string> = {
  upper: (path) => path.toUpperCase(),
  "zero width": (path) => path.replaceAll(".", ".\u200b"),
  "soft hyphen": (path) => path.replaceAll("i", "i\u00ad"),
  percent: (path) => path.replaceAll(".", "%2e").replaceAll("/", "%2F"),
  "percent twice": (path) => path.replaceAll(".", "%252e").replaceAll("/", "%252f"),
  "trailing dot": (path) => path.replaceAll("/", "./") + ".",
  "trailing slash": (path) => `${path}/`,
  "trailing blank": (path) => path.replaceAll("/", " /") + " ",
  "double slash": (path) => path.replaceAll("/", "//"),
  "dot slash": (path) => path.replaceAll("/", "/./"),
  backslash: (path) => path.replaceAll("/", "\\"),
  "full width": (path) => path.replaceAll(".", "．").replaceAll("/", "／"),
  stream: (path) => `${path}::$DATA`,
  "up and down": (path) => path.replaceAll("/", "/sub/../"),
  "marked twice": (path) => `@@${path}`,
  url: (path) => `file://${path.startsWith("/") ? "" : "/"}${path}`,
};

/** Everything the cases speak of. `ws`, `out` (which holds `secret`), `state` and `home` exist. */
export function layFiles({
  ws,
  out,
  state,
}: {
  readonly ws: string;
  readonly out: string;
  readonly state: string;
}): void {
  const put = (path: string, content: string): void => writeFileSync(join(ws, path), content);
  for (const folder of ["sub", "src", "..hidden", "a b", "deep/".repeat(40), "node_modules/x", "store"])
    mkdirSync(join(ws, folder), { recursive: true });
  put("ok.txt", "ok\n");
  put("src/app.ts", "a = 1;\n");
  put("..hidden/file", "dots\n");
  put("a b/ü.txt", "blank\n");
  put(`${"deep/".repeat(40)}x.txt`, "deep\n");
  put("50%.txt", "half\n");
  put("store/index.js", "shared\n");
  put("sub/in.txt", "in\n");
  linkSync(join(ws, "store/index.js"), join(ws, "node_modules/x/index.js"));
  linkSync(join(out, "secret"), join(ws, "hard-to-secret"));
  const links: readonly [name: string, target: string][] = [
    ["link1", out],
    ["link-to-secret", join(out, "secret")],
    ["swap-me", join(out, "secret")],
    ["race-dir", out],
    ["chain", "link1"],
    ["loop", "loop"],
    ["dangling", join(out, "new")],
    ["near-link", "sub/in.txt"],
    ["near-dir", "src"],
    ["config-link", join(state, "openclaw.json")],
  ];
  for (const [name, target] of links) symlinkSync(target, join(ws, name));
  const hole = openSync(join(ws, "big.bin"), "w");
  ftruncateSync(hole, 2 ** 31);
  closeSync(hole);
}

/** Placeholders filled in; `<1GB>` becomes more than any limit allows. */
export function fill(
  params: Readonly<Record<string, string>>,
  places: { readonly ws: string; readonly out: string; readonly state: string; readonly home: string },
  huge: string,
): Record<string, string> {
  const words: Record<string, string> = {
    "{{WS}}": places.ws,
    "{{WSNAME}}": basename(places.ws),
    "{{OUT}}": places.out,
    "{{STATE}}": places.state,
    "{{HOME}}": places.home,
    "{{SECRET}}": join(places.out, "secret"),
  };
  const filled = (text: string): string =>
    text === "<1GB>" ? huge : text.replaceAll(/\{\{[A-Z]+\}\}/g, (word) => words[word] ?? word);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, filled(value)]));
}
