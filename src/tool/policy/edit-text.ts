// Shows a fix as config text and as the commands that write it.
import type { Fix } from "./shape.ts";
import { jsonText, lineWidth } from "./safe-text.ts";

type After = Fix["after"][number];

/** `tools: { deny: ["process"] }`, wrapped. If an agent's entry is among them, comments say where each part belongs. */
export function configText(after: readonly After[]): string[] {
  const places = after.map(({ path, value }) => {
    const [, agent, inner] = /^(agents\.list\[\d+\])\.(.+)$/.exec(path) ?? [];
    return { owner: agent ?? "the config", inner: inner ?? path, value };
  });
  const isConfigOnly = places.every(({ owner }) => owner === "the config");
  return places.flatMap(({ owner, inner, value }, index) => {
    const heading = isConfigOnly || places[index - 1]?.owner === owner ? [] : [`// in ${owner}`];
    return [...heading, ...(value === undefined ? [`// without ${inner}`] : nested(inner, value))];
  });
}

function nested(path: string, value: string | readonly string[]): string[] {
  const words = path.match(/"(?:[^"\\]|\\.)*"|[^.[\]"'\s]+/gu) ?? [];
  const keys = words.map((word) => (/^(?:".*"|[A-Za-z_$][\w$]*)$/s.test(word) ? word : jsonText(word)));
  return spread(`${keys.join(": { ")}: `, value, " }".repeat(keys.length - 1));
}

/** All of a fix as one command line. */
export function commandOf(after: readonly After[]): string {
  return after.map((change) => commandLines(change, Number.POSITIVE_INFINITY).join("")).join(" && ");
}

/** The same as lines of a script, each within the width; the parser reads newlines inside the quotes as blanks. */
export function commandText(after: readonly After[]): string[] {
  return after.flatMap((change) => commandLines(change, lineWidth - 4));
}

function commandLines({ path, value }: After, width: number): string[] {
  if (value === undefined) return [`openclaw config unset ${shellWord(path)}`];
  const lead = `openclaw config set ${shellWord(path)} `;
  if (typeof value === "string") return [`${lead}${shellWord(value)}`];
  return spread(`${lead}'`, value, "'", width, (part) => jsonText(part).replaceAll("'", String.raw`\u0027`));
}

/** On one line if it fits, else one line per entry between the brackets. */
function spread(
  lead: string,
  value: After["value"] = "",
  tail: string,
  width = lineWidth - 4,
  encode = jsonText,
): string[] {
  const whole = `${lead}${encode(value)}${tail}`;
  if (whole.length <= width || typeof value === "string") return [whole];
  const lines = [""];
  for (const [index, entry] of value.entries()) {
    const piece = `${encode(entry)}${index === value.length - 1 ? "" : ","}`;
    const line = lines.at(-1) ?? "";
    if (line.length + piece.length + 2 > width && line !== "") lines.push(piece);
    else lines[lines.length - 1] = `${line}${piece}`;
  }
  return [`${lead}[`, ...lines.map((line) => `  ${line}`), `]${tail}`];
}

function shellWord(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
