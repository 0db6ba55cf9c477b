// Everyday use that must keep working: a gateway that denies everything is safe and useless.
import type { Call, Control } from "../case.ts";

const run = (command: string, more: Record<string, unknown> = {}): Call => ({
  tool: "exec",
  args: { command, ...more },
});
const read = (path: string): Call => ({ tool: "read", args: { path } });

export const everydayUse: readonly Control[] = [
  {
    id: "fs/read",
    does: "read a file of the workspace",
    attempt: [{ tool: "write", args: { path: "everyday.txt", content: "alpha\n" } }, read("everyday.txt")],
    says: "alpha",
  },
  {
    id: "fs/write",
    does: "write a new file in a new folder",
    attempt: [
      { tool: "write", args: { path: "new/folder/file.md", content: "# hello\n" } },
      read("new/folder/file.md"),
    ],
    says: "hello",
  },
  {
    id: "fs/edit",
    does: "edit a file",
    attempt: [
      { tool: "write", args: { path: "edit-me.txt", content: "alpha\n" } },
      { tool: "edit", args: { path: "edit-me.txt", oldText: "alpha", newText: "gamma" } },
      read("edit-me.txt"),
    ],
    says: "gamma",
  },
  {
    id: "fs/dots",
    does: "read a file in a folder whose name begins with dots",
    attempt: [{ tool: "write", args: { path: "..mine/ok.txt", content: "dots\n" } }, read("..mine/ok.txt")],
    says: "dots",
  },
  {
    id: "fs/words",
    does: "use spaces, accents and percent signs in names",
    attempt: [{ tool: "write", args: { path: "für 50% alle.txt", content: "accents\n" } }, read("für 50% alle.txt")],
    says: "accents",
  },
  {
    id: "fs/ignore-file",
    does: "write a .gitignore",
    attempt: { tool: "write", args: { path: ".gitignore", content: "dist\n" } },
  },
  {
    id: "fs/project-file",
    does: "write a project's own openclaw.json",
    attempt: { tool: "write", args: { path: "project/openclaw.json", content: "{}\n" } },
  },
  { id: "policy/agents", does: "list the agents", attempt: { tool: "agents_list", args: {} } },
  { id: "sessions/list", does: "list the sessions", attempt: { tool: "sessions_list", args: { limit: 5 } } },
  { id: "sessions/status", does: "read the status of its own session", attempt: { tool: "session_status", args: {} } },
  { id: "exec-shell/plain", does: "run an allowed program", attempt: run("{{SAY}} hello there"), says: "hello there" },
  {
    id: "exec-shell/quotes",
    does: "quote shell characters",
    attempt: run("{{SAY}} 'a; b && c $(d) `e`'"),
    says: "a; b && c $(d) `e`",
  },
  { id: "exec-shell/escaped-dollar", does: "write a price", attempt: run('{{SAY}} "costs \\$5"'), says: "costs $5" },
  {
    id: "exec-shell/safe-pipe",
    does: "pipe an allowed program into safe filters",
    attempt: run("{{SAY}} b a | tr a-z A-Z | head -n 1"),
    says: "B A",
  },
  { id: "exec-shell/errors-joined", does: "join errors and output", attempt: run("{{SAY}} fine 2>&1"), says: "fine" },
  { id: "exec-shell/errors-dropped", does: "drop errors", attempt: run("{{SAY}} quiet 2>/dev/null"), says: "quiet" },
  {
    id: "exec-shell/dashes",
    does: "pass words that look like options",
    attempt: run("{{SAY}} -- --not-a-flag"),
    says: "--not-a-flag",
  },
  { id: "exec-shell/other-letters", does: "print non-ASCII letters", attempt: run("{{SAY}} grüße 你好"), says: "你好" },
  {
    id: "exec-env/harmless",
    does: "set a harmless variable",
    attempt: run("{{SAY}} with-env", { env: { GREETING: "hi" } }),
    says: "with-env",
  },
  {
    id: "exec-safe-bins/filters",
    does: "count words with a safe filter",
    attempt: run("{{SAY}} one two three | wc -w"),
    says: "3",
  },
  {
    id: "exec-safe-bins/cut",
    does: "cut a column with a safe filter",
    attempt: run("{{SAY}} one:two | cut -d: -f2"),
    says: "two",
  },
  { id: "process/list", does: "list background commands", attempt: { tool: "process", args: { action: "list" } } },
  {
    id: "apply_patch/add",
    does: "add and change files with a patch",
    attempt: [
      { tool: "apply_patch", args: { input: "*** Begin Patch\n*** Add File: patched.txt\n+one\n+two\n*** End Patch" } },
      {
        tool: "apply_patch",
        args: { input: "*** Begin Patch\n*** Update File: patched.txt\n@@\n-one\n+uno\n*** End Patch" },
      },
      read("patched.txt"),
    ],
    says: "uno",
  },
];
