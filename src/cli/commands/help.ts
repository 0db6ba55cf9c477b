// `openclaw help [command…]`: the same as --help after a command.
import { defineCommand, UsageError } from "../command.ts";
import { findCommand, type Table } from "../find.ts";
import { commandHelp, groupHelp, rootHelp } from "../help.ts";

export const command = defineCommand({
  arguments: [
    { name: "command", description: "The command (default: list all commands).", optional: true, many: true },
  ],
  examples: [
    { line: "help", does: "all commands" },
    { line: "help config set", does: "one command" },
  ],
  async run(io, { arguments: words }) {
    const { entries, groups } = await import("./index.ts");
    const table: Table = { entries, groups };
    const found = words.length === 0 ? undefined : findCommand([...words, "--help"], table);
    if (found === undefined) io.print(rootHelp(table, io));
    else if (found.kind === "group")
      io.print(found.group === undefined ? rootHelp(table, io) : groupHelp(found.group, table, io));
    else {
      const unknown = found.words.find((word) => word !== "--help");
      if (unknown !== undefined)
        throw new UsageError(
          `unexpected argument: ${JSON.stringify(unknown)}; openclaw ${found.entry.path.join(" ")} has no such subcommand`,
          found.entry.path,
        );
      const { command: explained } = await found.entry.load();
      io.print(commandHelp(found.entry, explained, io));
    }
    return 0;
  },
});
