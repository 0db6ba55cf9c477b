// /help: the most important commands.
import { answered, type Command } from "../command-run.ts";

const first = ["new", "stop", "status", "model", "think", "usage", "compact", "tool"];

export const help = (list: () => readonly Command[]): Command => ({
  name: "help",
  summary: "The most important commands",
  shortcut: true,
  async answer() {
    const chosen = first.flatMap((name) => list().filter((command) => command.name === name));
    return answered(
      ["Write to the agent as you would to a person. Commands:", ...chosen.map(line), "All of them: /commands"].join(
        "\n",
      ),
    );
  },
});

export function line({ name, aliases = [], takes, summary }: Command): string {
  const others =
    aliases.length === 0
      ? ""
      : ` (also ${aliases.map((alias) => (/^\W/.test(alias) ? alias : `/${alias}`)).join(", ")})`;
  return `/${name}${takes === undefined ? "" : ` ${takes}`}: ${summary}${others}`;
}
