// `openclaw completion`: prints a completion script for the shell, generated from the command table.
import { defineCommand, globalOptions, UsageError, type Options } from "../command.ts";
import { bashScript, fishScript, zshScript, type CompletionWord } from "../completion-script.ts";

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export const command = defineCommand({
  arguments: [{ name: "shell", description: "bash, zsh or fish (default: from $SHELL).", optional: true }],
  examples: [
    { line: "completion bash >> ~/.bashrc", does: "bash; then open a new shell" },
    { line: "completion zsh > ~/.zfunc/_openclaw", does: "zsh, with ~/.zfunc in fpath before compinit" },
    { line: "completion fish > ~/.config/fish/completions/openclaw.fish", does: "fish" },
  ],
  async run(io, { arguments: [given] }) {
    const shell = given ?? io.env["SHELL"]?.split("/").at(-1) ?? "bash";
    if (!isShell(shell))
      throw new UsageError(`no completion for ${JSON.stringify(shell)}; available: ${Object.keys(shells).join(", ")}`, [
        "completion",
      ]);
    io.write(shells[shell](await everyWord()));
    return 0;
  },
});

function isShell(word: string): word is keyof typeof shells {
  return Object.hasOwn(shells, word);
}

/** Loads every command for its options; this command may be slow. */
async function everyWord(): Promise<CompletionWord[]> {
  const { entries, groups } = await import("./index.ts");
  const loaded = await Promise.all(
    entries.map(async (entry) => ({
      path: entry.path,
      summary: entry.summary,
      options: optionNames((await entry.load()).command.options ?? {}),
    })),
  );
  return [
    { path: [], summary: "", options: optionNames(globalOptions) },
    ...groups.map(({ path, summary }) => ({ path, summary, options: optionNames(globalOptions) })),
    ...loaded,
  ];
}

function optionNames(options: Options): string[] {
  return [...new Set([...Object.keys(options), ...Object.keys(globalOptions)])].map((name) => `--${name}`);
}
