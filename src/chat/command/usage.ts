// /usage: shows usage, and whether replies include it.
import { answered, type Command, type CommandRun, type UsageTotals } from "../command-run.ts";
import { counted, dollars, whole } from "../figures.ts";

const modes: ReadonlySet<string> = new Set(["off", "tokens", "full"]);

export const usage: Command = {
  name: "usage",
  takes: "off|tokens|full|cost",
  summary: "Show usage; off, tokens and full set what replies include",
  async answer(args, commandRun) {
    const word = args.trim().toLowerCase();
    if (modes.has(word)) {
      await commandRun.patch({ responseUsage: word });
      return answered(`Replies now include: ${includedText(word)}.`);
    }
    if (word !== "" && word !== "cost") return answered("Usage: /usage off|tokens|full|cost. Nothing was changed.");
    const { responseUsage = "off" } = await commandRun.entry();
    const figures = await figuresText(commandRun);
    return answered(word === "cost" ? figures : `${figures}\nReplies include: ${includedText(responseUsage)}.`);
  },
};

function includedText(mode: string): string {
  if (mode === "tokens") return "tokens";
  return mode === "full" ? "tokens and cost" : "no usage";
}

async function figuresText(commandRun: CommandRun): Promise<string> {
  const { usage: port } = commandRun.deps;
  const { sessionKey, agentId } = commandRun.context;
  if (port === undefined) return fromEntry(commandRun);
  const [session, day] = await Promise.all([port.session(sessionKey), port.today(agentId)]);
  return [line("This session", session), line(`Agent ${agentId} today`, day)].join("\n");
}

function line(title: string, { input, output, cacheRead, cacheWrite, costUsd, calls }: UsageTotals): string {
  const cache = cacheRead + cacheWrite === 0 ? "" : `, cache ${whole(cacheRead)} read and ${whole(cacheWrite)} written`;
  return `${title}: ${whole(input)} tokens in, ${whole(output)} out${cache}, ${counted(calls, "model call")}, ${dollars(costUsd)}`;
}

async function fromEntry(commandRun: CommandRun): Promise<string> {
  const { inputTokens = 0, outputTokens = 0 } = await commandRun.entry();
  return `This session: ${whole(inputTokens)} tokens in, ${whole(outputTokens)} out`;
}
