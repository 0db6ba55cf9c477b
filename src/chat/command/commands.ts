// /commands: lists every command.
import { answered, type Command } from "../command-run.ts";
import { line } from "./help.ts";

export const commands = (list: () => readonly Command[]): Command => ({
  name: "commands",
  summary: "All commands",
  shortcut: true,
  async answer() {
    return answered(list().map(line).join("\n"));
  },
});
