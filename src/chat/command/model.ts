// /model: which model answers in this session.
import { modelChoices, pickModel, same, type Choice } from "../model-choice.ts";
import { answered, overrideOf, refText, type Directive, type CommandRun } from "../command-run.ts";

const listWords: ReadonlySet<string> = new Set(["", "list", "ls"]);
const keywords: ReadonlySet<string> = new Set(["list", "status", "default"]);

export const model: Directive = {
  name: "model",
  aliases: ["models"],
  takes: "list|status|default|<number>|<provider/model>|<alias>",
  summary: "Choose the model of this session",
  claims([first = ""], aliases) {
    const word = first.toLowerCase();
    const isReference = /^[^/\s]+\/\S+$/.test(word) && !word.includes("://");
    return keywords.has(word) || aliases.has(word) || isReference || /^\d{1,4}$/.test(word) ? 1 : 0;
  },
  async answer(args, commandRun) {
    const request = args.trim();
    const word = request.toLowerCase();
    if (listWords.has(word)) return answered(await listText(commandRun));
    if (word === "status") return answered(await statusText(commandRun));
    if (word === "default") return answered(await clear(commandRun));
    const picked = await pickModel(request, commandRun);
    if ("refusal" in picked) return answered(picked.refusal);
    const { provider, id } = picked.ref;
    await commandRun.patch({ providerOverride: provider, modelOverride: id });
    return answered(`This session now uses ${refText(picked.ref)}.${warning(picked.ref)}`);
  },
  async once(args, commandRun) {
    const word = args.toLowerCase();
    if (word === "" || word === "status" || word === "list") return { note: await statusText(commandRun) };
    if (word === "default") return onceDefault(commandRun);
    const picked = await pickModel(args, commandRun);
    return "refusal" in picked ? picked : { settings: { model: refText(picked.ref) } };
  },
};

async function onceDefault(commandRun: CommandRun): ReturnType<Directive["once"]> {
  const [first] = await commandRun.deps.models.candidates({ agentId: commandRun.context.agentId });
  return first === undefined ? { refusal: NONE } : { settings: { model: refText(first) } };
}

const NONE = "No model configured. Add one with: openclaw configure --section model. Tools run without one: /tool";

function warning({ ready, provider }: Choice): string {
  return ready ? "" : ` No API key found for provider "${provider}".`;
}

async function clear(commandRun: CommandRun): Promise<string> {
  await commandRun.patch({ providerOverride: null, modelOverride: null });
  const now = await commandRun.model();
  return now === undefined
    ? `This session uses the default model again. ${NONE}`
    : `This session uses the default model again: ${refText(now)}.`;
}

async function listText(commandRun: CommandRun): Promise<string> {
  const choices = await modelChoices(commandRun);
  if (choices.length === 0) return NONE;
  const now = await commandRun.model();
  const lines = choices.slice(0, 60).map((choice, at) => {
    const marks = [
      choice.alias,
      now !== undefined && same(now, choice) ? "in use" : undefined,
      choice.ready ? undefined : "no key",
    ].filter((mark) => mark !== undefined);
    return `${at + 1}. ${refText(choice)}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
  });
  const more = choices.length > 60 ? [`and ${choices.length - 60} more`] : [];
  return ["Models:", ...lines, ...more, "Choose with /model <number> or /model <provider/model>."].join("\n");
}

async function statusText(commandRun: CommandRun): Promise<string> {
  const override = overrideOf(await commandRun.entry());
  const defaults = await commandRun.deps.models.candidates({ agentId: commandRun.context.agentId });
  const [first, ...fallbacks] = defaults;
  const inUse = override ?? first;
  if (inUse === undefined) return NONE;
  const rows = await commandRun.deps.models.list();
  const ready = rows.some((row) => same(row, inUse) && row.ready);
  return [
    `Model: ${refText(inUse)}${override === undefined ? " (default)" : " (chosen for this session)"}${ready ? "" : `. No API key found for provider "${inUse.provider}".`}`,
    ...(override === undefined || first === undefined ? [] : [`Default: ${refText(first)}`]),
    ...(fallbacks.length === 0 ? [] : [`If it fails: ${fallbacks.map(refText).join(", ")}`]),
  ].join("\n");
}
