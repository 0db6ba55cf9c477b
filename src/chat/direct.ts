// Handles a message before the model: answers commands, stores or applies directives, passes on the rest.
import { OpenClawError } from "../core/error.ts";
import type { Config } from "../config/schema/index.ts";
import type { Direct, Directed, IsUrgent, OnceSettings } from "../agent/direct.ts";
import { commandNamed, commandWords, directiveNamed, directiveWords, shortcutWords } from "./command/list.ts";
import { parseMessage, type Found, type Grammar, type Parsed } from "./parse.ts";
import { answered, createCommandRun, type DirectDeps, type CommandRun } from "./command-run.ts";

export function createDirect(deps: DirectDeps): Direct {
  return async function direct(text, context) {
    const config = deps.config();
    if (!mayCommand(context, config)) return { kind: "turn", text, notes: [], once: {} };
    const parsed = parseMessage(text, grammarOf(config));
    try {
      const commandRun = createCommandRun(deps, context, config);
      return await withHooks(parsed, text, commandRun, () => act(parsed, commandRun));
    } catch (error) {
      if (error instanceof OpenClawError) return failed(error);
      throw error;
    }
  };
}

export function createIsUrgent({ config }: Pick<DirectDeps, "config">): IsUrgent {
  return function isUrgent(text, context) {
    const now = config();
    if (!mayCommand(context, now)) return false;
    const parsed = parseMessage(text, grammarOf(now));
    if (parsed.kind === "command") return commandNamed(parsed.name).waits !== true;
    return parsed.text === "" && parsed.directives.length + parsed.shortcuts.length > 0;
  };
}

/** Channels with their own command menus, which `commands.text: false` uses instead. */
const menuChannels: ReadonlySet<string> = new Set(["discord", "telegram", "slack"]);

function mayCommand({ authorised, source }: Parameters<IsUrgent>[1], config: Config): boolean {
  return authorised && !(config.commands?.text === false && menuChannels.has(source));
}

function grammarOf(config: Config): Grammar {
  const aliases = Object.values(config.agents?.defaults?.models ?? {}).flatMap(({ alias }) =>
    alias === undefined ? [] : [alias.trim().toLowerCase()],
  );
  return {
    commands: commandWords,
    shortcuts: shortcutWords,
    directives: directiveWords,
    modelAliases: new Set(aliases),
    resetTriggers: config.session?.resetTriggers ?? [],
  };
}

/** Runs before a reset, while the transcript exists, and after a stop, which must not wait. */
async function withHooks(
  parsed: Parsed,
  text: string,
  commandRun: CommandRun,
  answer: () => Promise<Directed>,
): Promise<Directed> {
  const { onCommand } = commandRun.deps;
  const name = parsed.kind === "command" ? parsed.name : "";
  if (onCommand === undefined || (name !== "new" && name !== "stop")) return answer();
  const action = name === "new" && /^\s*\/reset\b/i.test(text) ? "reset" : name;
  const { sessionKey, agentId, source, approver } = commandRun.context;
  const runHooks = () =>
    onCommand({ action, sessionKey, agentId, source, senderId: approver?.sender ?? approver?.clientId });
  const before = name === "new" ? await runHooks() : [];
  const directed = await answer();
  const messages = name === "new" ? before : await runHooks();
  if (messages.length === 0) return directed;
  if (directed.kind === "turn") return { ...directed, notes: [...directed.notes, ...messages] };
  return { ...directed, text: [directed.text, ...messages].join("\n") };
}

async function act(parsed: Parsed, commandRun: CommandRun): Promise<Directed> {
  if (parsed.kind === "command") return commandNamed(parsed.name).answer(parsed.args, commandRun);
  const { text, directives, shortcuts } = parsed;
  if (directives.length === 0 && shortcuts.length === 0) return { kind: "turn", text, notes: [], once: {} };
  return text === ""
    ? storeDirectives(directives, shortcuts, commandRun)
    : applyOnce(text, directives, shortcuts, commandRun);
}

/** A message with only directives and shortcuts: they are stored and acknowledged. */
async function storeDirectives(
  directives: readonly Found[],
  shortcuts: readonly string[],
  commandRun: CommandRun,
): Promise<Directed> {
  const answers: Directed[] = [];
  for (const { name, args } of directives) answers.push(await directiveNamed(name).answer(args, commandRun));
  for (const name of shortcuts) answers.push(await commandNamed(name).answer("", commandRun));
  const failure = answers.flatMap((answer) =>
    answer.kind === "answered" && answer.failure ? [answer.failure] : [],
  )[0];
  return { ...answered(answers.map(({ text }) => text).join("\n")), ...(failure === undefined ? {} : { failure }) };
}

async function applyOnce(
  text: string,
  directives: readonly Found[],
  shortcuts: readonly string[],
  commandRun: CommandRun,
): Promise<Directed> {
  const notes: string[] = [];
  let once: OnceSettings = {};
  for (const name of shortcuts) notes.push((await commandNamed(name).answer("", commandRun)).text);
  for (const { name, args } of directives) {
    const { settings, note, refusal } = await directiveNamed(name).once(args, commandRun);
    if (refusal !== undefined) return answered(`${refusal}\nYour message was not sent to a model.`);
    if (note !== undefined) notes.push(note);
    once = { ...once, ...settings };
  }
  return { kind: "turn", text, notes, once };
}

function failed({ code, message, hint }: OpenClawError): Directed {
  const text = hint === undefined ? message : `${message}\nFix: ${hint}`;
  return { kind: "answered", text, failure: { code, message, ...(hint === undefined ? {} : { hint }) } };
}
