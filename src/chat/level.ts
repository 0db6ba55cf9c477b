// Directives that set one of a few levels: parse, show, store and reject in the same way.
import type { OnceSettings } from "../agent/direct.ts";
import { answered, type Directive, type CommandRun } from "./command-run.ts";

export interface Level {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Its name in answers, such as `Thinking`. */
  readonly title: string;
  readonly levels: readonly string[];
  /** Other spellings of levels, lower case; may have two words. */
  readonly synonyms: Readonly<Record<string, string>>;
  readonly field: string;
  readonly once: keyof OnceSettings;
  /** The current level, with its origin when that is not the session. */
  current(commandRun: CommandRun): Promise<string>;
  /** Why this level is not available here; undefined when it is. */
  objection?(level: string, commandRun: CommandRun): Promise<string | undefined>;
}

export function levelDirective(level: Level): Directive {
  const { name, aliases, summary, title, levels, field } = level;
  const known = new Map([...levels.map((word) => [word, word] as const), ...Object.entries(level.synonyms)]);
  const read = (args: string): string | undefined => known.get(args.trim().toLowerCase().replace(/\s+/g, " "));
  const choices = levels.join(", ");
  return {
    name,
    aliases,
    takes: levels.join("|"),
    summary,
    claims(words) {
      const [first = "", second] = words;
      if (second !== undefined && known.has(`${first} ${second}`.toLowerCase())) return 2;
      return known.has(first.toLowerCase()) ? 1 : 0;
    },
    async answer(args, commandRun) {
      if (args === "") return answered(`${title}: ${await level.current(commandRun)}. Choices: ${choices}.`);
      const chosen = read(args);
      if (chosen === undefined) return answered(unknown(args));
      const objection = await level.objection?.(chosen, commandRun);
      if (objection !== undefined) return answered(objection);
      await commandRun.patch({ [field]: chosen });
      return answered(`${title} is now ${chosen} for this session.`);
    },
    async once(args, commandRun) {
      if (args === "") return { note: `${title}: ${await level.current(commandRun)}.` };
      const chosen = read(args);
      if (chosen === undefined) return { note: unknown(args) };
      const objection = await level.objection?.(chosen, commandRun);
      return objection === undefined ? { settings: { [level.once]: chosen } } : { note: objection };
    },
  };

  function unknown(args: string): string {
    return `"${args.slice(0, 60)}" is not a level of /${name}. Choices: ${choices}. Nothing was changed.`;
  }
}
