// Parses the arguments of a tool as people type them: one JSON5 object, key=value pairs, or JSON5 on stdin.
import { UsageError } from "./command.ts";
import { parseJson5, parseObject } from "./json5.ts";

type Properties = Readonly<Record<string, unknown>>;

/** `properties` is called only when there are pairs. */
export async function readArguments(
  words: readonly string[],
  properties: () => Promise<Properties>,
): Promise<Record<string, unknown>> {
  const [first] = words;
  if (first === undefined) return {};
  if (words.length === 1 && first === "-") return parseObject(await readStdin(), "stdin");
  if (words.length === 1 && first.trimStart().startsWith("{")) return parseObject(first, "the argument");
  const known = await properties();
  return Object.fromEntries(words.map((word) => toPair(word, known)));
}

function toPair(word: string, known: Properties): [string, unknown] {
  const equals = word.indexOf("=");
  if (equals < 1)
    throw new UsageError(`${JSON.stringify(word)} is neither key=value nor a JSON5 object`, ["tools", "call"]);
  const [key, value] = [word.slice(0, equals), word.slice(equals + 1)];
  if (wantsText(known[key])) return [key, value];
  const parsed = parseJson5(value);
  return [key, parsed.ok ? parsed.value : value];
}

function wantsText(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "type" in schema && schema.type === "string";
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
