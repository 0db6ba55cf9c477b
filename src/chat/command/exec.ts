// /exec: where and how commands of this session run. Session state only; the tool rules still decide.
import { EXEC_ASK, EXEC_HOST, EXEC_SECURITY, routeOfSession } from "../../exec/route.ts";
import type { ExecHints } from "../../agent/direct.ts";
import { answered, type Directive, type CommandRun } from "../command-run.ts";

const values: Readonly<Record<"host" | "security" | "ask", readonly string[]>> = {
  host: EXEC_HOST,
  security: EXEC_SECURITY,
  ask: EXEC_ASK,
};
const fields = { host: "execHost", security: "execSecurity", ask: "execAsk", node: "execNode" } as const;
type Key = keyof typeof fields;
/** Gives a value back to the config. */
const RESET = "default";

/** `ask=off` allows everything, so it needs a sender who may answer approvals. */
const NOT_YOURS = "Only a sender who may answer approvals can change how commands run here.";

const isKey = (word: string): word is Key => Object.hasOwn(fields, word);

export const exec: Directive = {
  name: "exec",
  takes: "host=… security=… ask=… node=…",
  summary: "Where and how commands of this session run",
  claims(words) {
    const other = words.findIndex((word) => !/^(?:host|security|ask|node)=\S*$/i.test(word));
    return other === -1 ? words.length : other;
  },
  async answer(args, commandRun) {
    if (args.trim() === "") return answered(await shown(commandRun));
    const read = readHints(args);
    if ("problem" in read) return answered(`${read.problem} Nothing was changed.`);
    if (commandRun.context.approver === undefined) return answered(`${NOT_YOURS} Nothing was changed.`);
    await commandRun.patch(
      Object.fromEntries(
        Object.entries(read.hints).map(([key, value]) => [fields[key as Key], value === RESET ? null : value]),
      ),
    );
    return answered(`Commands of this session: ${describe(read.hints)}. The tool rules and approvals still apply.`);
  },
  async once(args, commandRun) {
    if (args === "") return { note: await shown(commandRun) };
    const read = readHints(args);
    if ("problem" in read) return { refusal: read.problem };
    if (commandRun.context.approver === undefined) return { refusal: NOT_YOURS };
    const reset = Object.entries(read.hints).find(([, value]) => value === RESET)?.[0];
    return reset === undefined
      ? { settings: { exec: read.hints } }
      : { refusal: `${reset}=${RESET} must be a separate message. ${usage()}` };
  },
};

function readHints(args: string): { readonly hints: ExecHints } | { readonly problem: string } {
  const hints: Partial<Record<Key, string>> = {};
  for (const word of args.trim().split(/\s+/)) {
    const [, rawKey = "", value = ""] = /^([a-z]+)=(.*)$/is.exec(word) ?? [];
    const key = rawKey.toLowerCase();
    if (!isKey(key)) return { problem: `/exec does not know "${word.slice(0, 60)}". ${usage()}` };
    const known = key === "node" ? undefined : values[key];
    const chosen = key === "node" && value.toLowerCase() !== RESET ? value : value.toLowerCase();
    if (chosen === "" || (chosen !== RESET && known?.includes(chosen) === false)) {
      return { problem: `"${value.slice(0, 60)}" is not a value of ${key}. ${usage()}` };
    }
    hints[key] = chosen;
  }
  return { hints };
}

function usage(): string {
  const parts = Object.entries(values).map(([key, choices]) => `${key}=${choices.join("|")}`);
  return `Usage: /exec ${parts.join(" ")} node=<name>; =${RESET} resets to the config.`;
}

function describe(hints: ExecHints): string {
  return Object.entries(hints)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

/** The current values, each with its origin. */
async function shown(commandRun: CommandRun): Promise<string> {
  const { config, context } = commandRun;
  const settings = routeOfSession(config, context.agentId, await commandRun.entry());
  const lines = Object.entries(settings).map(([key, { value, from }]) => `${key}=${value ?? "any"} (${from})`);
  return `Commands of this session: ${lines.join(" ")}. ${usage()}`;
}
