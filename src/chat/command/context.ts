// /context: how large the parts of the prompt are.
import { fenced } from "../fence.ts";
import { counted, whole } from "../figures.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";

export const context: Command = {
  name: "context",
  takes: "list|detail|json",
  summary: "How large the parts of the prompt are",
  async answer(args, commandRun) {
    const form = args.trim().toLowerCase() || "list";
    if (!["list", "detail", "json"].includes(form)) return answered("Usage: /context list|detail|json");
    const tools = await toolSizes(commandRun);
    const parts = await commandRun.deps.prompt?.parts(commandRun.context.sessionKey);
    if (form === "json") return answered(fenced(JSON.stringify({ parts: parts ?? null, tools }, null, 2), "json"));
    const toolChars = tools.reduce((sum, { chars }) => sum + chars, 0);
    const lines = [
      ...(parts ?? []).map(sizeLine),
      sizeLine({ name: counted(tools.length, "tool"), chars: toolChars }),
      ...(form === "detail"
        ? tools.toSorted((one, two) => two.chars - one.chars).map((row) => `  ${sizeLine(row)}`)
        : []),
      ...(parts === undefined ? ["The parts of the system prompt are not measured here."] : []),
    ];
    return answered(lines.join("\n"));
  },
};

interface Size {
  readonly name: string;
  readonly chars: number;
}

/** Four characters to a token is the usual rule of thumb. */
function sizeLine({ name, chars }: Size): string {
  return `${name}: ${whole(chars)} characters, about ${whole(chars / 4)} tokens`;
}

async function toolSizes(commandRun: CommandRun): Promise<Size[]> {
  const rows = commandRun.deps.catalog.rows(await commandRun.subject());
  return rows
    .filter(({ allowed, available }) => allowed && available)
    .map(({ name, description, parameters }) => ({
      name,
      chars: JSON.stringify({ name, description, parameters }).length,
    }));
}
