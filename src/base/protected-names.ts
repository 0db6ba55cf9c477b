// Names of files that other programs run or obey automatically: file tools never write them, sandboxes mount them
// read-only. Omitted on purpose, because people often ask for such edits and running them is a separate step:
// package.json (and .npmrc, which can do no more than its scripts), Makefile, .gitignore, .github/, .husky/,
// .devcontainer/, .env.

export interface ProtectedName {
  /** Consecutive names anywhere in a path, with everything below them. Lower case. */
  readonly names: readonly string[];
  /** `bound` rules apply only where paths are confined: elsewhere a person's whole home is open by choice. */
  readonly when: "always" | "bound";
  readonly reason: string;
}

const always = (reason: string, ...paths: string[]): ProtectedName[] =>
  paths.map((path) => ({ names: path.split("/"), when: "always", reason }));
const bound = (reason: string, ...paths: string[]): ProtectedName[] =>
  paths.map((path) => ({ names: path.split("/"), when: "bound", reason }));

export const protectedNames: readonly ProtectedName[] = [
  ...always("git runs programs named in its config and hooks on every status; use git itself", ".git"),
  ...always("direnv runs it when a shell enters the folder", ".envrc"),
  ...always("editors run its tasks and obey its program paths when the folder is opened", ".vscode", ".idea", ".zed"),
  ...always(
    "agents start the programs it names",
    ".mcp.json",
    ".cursor/mcp.json",
    ".roo/mcp.json",
    ".kiro/settings/mcp.json",
  ),
  ...always(
    "agents run the hooks and obey the permissions it names",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude.json",
    ".codex/config.toml",
    ".codex/hooks",
    ".gemini/settings.json",
    ".cursor/hooks.json",
  ),
  ...always("editors start this interpreter automatically", ".venv/bin", ".venv/scripts", "venv/bin", "venv/scripts"),
  ...bound(
    "shells run it at every start",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".config/fish",
  ),
  ...bound("git obeys the programs it names in every repository", ".gitconfig", ".config/git"),
  ...bound("hg and jj run the hooks and programs it names", ".hg/hgrc", ".hg/hgrc-not-shared", ".jj/repo/config.toml"),
  ...bound("it decides who may log in here and what runs then", ".ssh"),
  ...bound("it runs automatically at log-in", ".config/autostart", ".config/systemd", "library/launchagents"),
];
