// /tool: runs a tool by name, without any model.
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { parseText, valueOf } from "../../config/json5-text.ts";
import { runTool } from "../run-tool.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";

export const tool: Command = {
  name: "tool",
  takes: "<name> {json}",
  summary: "Run a tool yourself",
  waits: true,
  async answer(args, commandRun) {
    const [name] = /^\S+/.exec(args) ?? [];
    if (name === undefined) return answered(await listText(commandRun));
    const given = readArguments(args.slice(name.length).trim());
    if ("problem" in given) {
      return answered(`${given.problem} Usage: /tool ${name.slice(0, 60)} {key: "value"}. Nothing was run.`);
    }
    return runTool(name, given.args, "chat:/tool", commandRun);
  },
};

function readArguments(text: string): { readonly args: Record<string, unknown> } | { readonly problem: string } {
  if (text === "") return { args: {} };
  const value = readJson5(text);
  if (value instanceof Error) return { problem: `The arguments are not JSON: ${value.message}.` };
  return isRecord(value) ? { args: value } : { problem: "The arguments must be an object." };
}

function readJson5(text: string): unknown {
  try {
    const node = parseText(text);
    return node === undefined ? {} : valueOf(text, node);
  } catch (error) {
    if (error instanceof OpenClawError || error instanceof SyntaxError) return error;
    throw error;
  }
}

async function listText(commandRun: CommandRun): Promise<string> {
  const rows = commandRun.deps.catalog
    .rows(await commandRun.subject())
    .filter(({ allowed, available }) => allowed && available);
  const lines = rows.map(({ name, summary }) => `${name}: ${summary}`);
  const none = ["No tool is allowed in this session. Why: openclaw tools list"];
  return [
    ...(lines.length === 0 ? none : ["Tools of this session:", ...lines]),
    "Run one with /tool <name> {json}.",
  ].join("\n");
}
