// Help texts, made from the table and from the commands themselves.
import { globalOptions, type Command, type Entry, type Option, type Options } from "./command.ts";
import { childrenOf, type Group, type Table } from "./find.ts";
import type { Paint } from "./paint.ts";
import { columns, wrap } from "./print.ts";

interface Look {
  readonly paint: Paint;
  readonly width: number;
}

export function rootHelp(table: Table, look: Look): string {
  const { paint } = look;
  return [
    "OpenClaw: a gateway that lets a language model use tools under rules you can read.",
    "",
    `${paint.strong("Usage:")} openclaw [options] <command> [arguments]`,
    "",
    paint.strong("Commands:"),
    ...rows(topLevel(table), look),
    "",
    paint.strong("Options:"),
    ...optionRows(
      { ...globalOptions, version: { type: "boolean", short: "V", description: "Print the version." } },
      look,
    ),
    "",
    paint.strong("First steps:"),
    ...exampleRows(
      [
        { line: "gateway run --setup", does: "write a first config and start" },
        { line: "dashboard", does: "open the page in a browser" },
        { line: "doctor", does: "look for what is wrong and say how to mend it" },
      ],
      look,
    ),
    "",
    paint.dim("Help on one command: openclaw <command> --help"),
  ].join("\n");
}

export function groupHelp(group: Group, table: Table, look: Look): string {
  const { paint } = look;
  const name = group.path.join(" ");
  const entries = table.entries.filter((entry) => group.path.every((word, at) => entry.path[at] === word));
  const bare = group.bare === undefined ? [] : ["", `openclaw ${name} alone means: openclaw ${name} ${group.bare}`];
  return [
    group.summary,
    "",
    `${paint.strong("Usage:")} openclaw ${name} <${childrenOf(group.path, table).join("|")}>`,
    "",
    ...rows(
      entries.map((entry): [string, string] => [entry.path.slice(group.path.length).join(" "), entry.summary]),
      look,
    ),
    ...bare,
    "",
    paint.dim(`Help and examples: openclaw ${name} <command> --help`),
  ].join("\n");
}

export function commandHelp({ path }: Pick<Entry, "path">, command: Command, look: Look): string {
  const { paint } = look;
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", paint.strong(`${title}:`), ...lines];
  const given = command.arguments ?? [];
  return [
    command.summary,
    ...(command.details === undefined ? [] : ["", ...wrap(command.details, look.width)]),
    "",
    `${paint.strong("Usage:")} ${usageOf(path, command)}`,
    ...section(
      "Arguments",
      rows(
        given.map(({ name, description }): [string, string] => [name, description]),
        look,
      ),
    ),
    ...section("Options", optionRows(command.options ?? {}, look)),
    ...section("For every command", optionRows(globalOptions, look)),
    ...section("Examples", exampleRows(command.examples, look)),
    ...section("Exit codes", wrap(command.exits ?? "0 well, 1 failed, 2 the command line was wrong", look.width, "  ")),
  ].join("\n");
}

/** `openclaw config set [options] <path> <value>`. */
export function usageOf(path: readonly string[], command: Command): string {
  const words = (command.arguments ?? []).map(({ name, optional, many }) => {
    const word = many === true ? `${name}…` : name;
    return optional === true ? `[${word}]` : `<${word}>`;
  });
  return ["openclaw", ...path, ...(command.options === undefined ? [] : ["[options]"]), ...words].join(" ");
}

function topLevel(table: Table): [string, string][] {
  const groups = table.groups
    .filter(({ path }) => path.length === 1)
    .map(({ path, summary }): [string, string] => [path.join(" "), summary]);
  const single = table.entries
    .filter(({ path }) => path.length === 1)
    .map(({ path, summary }): [string, string] => [path.join(" "), summary]);
  return [...groups, ...single].toSorted(([a], [b]) => a.localeCompare(b));
}

function optionRows(options: Options, look: Look): string[] {
  return rows(
    Object.entries(options).map(([name, option]): [string, string] => [optionName(name, option), optionText(option)]),
    look,
  );
}

/** `-h, --help`, `--port <port>`. */
export function optionName(name: string, { short, type, value = "value" }: Option): string {
  const lead = short === undefined ? "    " : `-${short}, `;
  return `${lead}--${name}${type === "string" ? ` <${value}>` : ""}`;
}

export function optionText({ description, choices, multiple }: Option): string {
  const more = [
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(multiple === true ? ["may be repeated"] : []),
  ];
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}

function exampleRows(examples: Command["examples"], look: Look): string[] {
  return examples.flatMap(({ line, does }) => [`  openclaw ${line}`, `      ${look.paint.dim(does)}`]);
}

function rows(pairs: readonly [string, string][], { width }: Look): string[] {
  return columns(pairs, { width, indent: "  " });
}
