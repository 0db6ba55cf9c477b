// Help texts, generated from the command table and the commands.
import { globalOptions, type Command, type Entry, type Option, type Options } from "./command.ts";
import { childrenOf, type Group, type Table } from "./find.ts";
import type { Paint } from "./paint.ts";
import { columns, wrap } from "./print.ts";

interface Style {
  readonly paint: Paint;
  readonly width: number;
}

export function rootHelp(table: Table, style: Style): string {
  const { paint } = style;
  return [
    "OpenClaw: a gateway that lets a language model use tools under rules you control.",
    "",
    `${paint.strong("Usage:")} openclaw [options] <command> [arguments]`,
    "",
    paint.strong("Commands:"),
    ...rows(topLevel(table), style),
    "",
    paint.strong("Options:"),
    ...optionRows(
      { ...globalOptions, version: { type: "boolean", short: "V", description: "Print the version." } },
      style,
    ),
    "",
    paint.strong("First steps:"),
    ...exampleRows(
      [
        { line: "gateway run --setup", does: "write a first config and start" },
        { line: "dashboard", does: "open the page in a browser" },
        { line: "doctor", does: "find problems and show how to fix them" },
      ],
      style,
    ),
    "",
    paint.dim("Help for one command: openclaw <command> --help"),
  ].join("\n");
}

export function groupHelp(group: Group, table: Table, style: Style): string {
  const { paint } = style;
  const name = group.path.join(" ");
  const entries = table.entries.filter((entry) => group.path.every((word, at) => entry.path[at] === word));
  const bare = group.bare === undefined ? [] : ["", `openclaw ${name} is short for: openclaw ${name} ${group.bare}`];
  return [
    group.summary,
    "",
    `${paint.strong("Usage:")} openclaw ${name} <${childrenOf(group.path, table).join("|")}>`,
    "",
    ...rows(
      entries.map((entry): [string, string] => [entry.path.slice(group.path.length).join(" "), entry.summary]),
      style,
    ),
    ...bare,
    "",
    paint.dim(`Help and examples: openclaw ${name} <command> --help`),
  ].join("\n");
}

export function commandHelp(
  { path, summary }: Pick<Entry, "path" | "summary">,
  command: Command,
  style: Style,
): string {
  const { paint } = style;
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", paint.strong(`${title}:`), ...lines];
  const given = command.arguments ?? [];
  return [
    summary,
    ...(command.details === undefined ? [] : ["", ...wrap(command.details, style.width)]),
    "",
    `${paint.strong("Usage:")} ${usageOf(path, command)}`,
    ...section(
      "Arguments",
      rows(
        given.map(({ name, description }): [string, string] => [name, description]),
        style,
      ),
    ),
    ...section("Options", optionRows(command.options ?? {}, style)),
    ...section("Global options", optionRows(globalOptions, style)),
    ...section("Examples", exampleRows(command.examples, style)),
    ...section("Exit codes", wrap(command.exits ?? "0 success, 1 failure, 2 wrong usage", style.width, "  ")),
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

function optionRows(options: Options, style: Style): string[] {
  return rows(
    Object.entries(options).map(([name, option]): [string, string] => [optionName(name, option), optionText(option)]),
    style,
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

function exampleRows(examples: Command["examples"], style: Style): string[] {
  return examples.flatMap(({ line, does }) => [`  openclaw ${line}`, `      ${style.paint.dim(does)}`]);
}

function rows(pairs: readonly [string, string][], { width }: Style): string[] {
  return columns(pairs, { width, indent: "  " });
}
