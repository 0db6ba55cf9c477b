// `provider/model` as people write it on the command line.
import { UsageError } from "./command.ts";

/** Throws UsageError; the name behind the slash may have slashes of its own. */
export function checkedRef(written: string, helpFor: readonly string[]): { provider: string; id: string } {
  const slash = written.indexOf("/");
  const provider = written.slice(0, slash).trim();
  const id = written.slice(slash + 1).trim();
  if (slash > 0 && provider !== "" && id !== "" && !/\s/.test(provider)) return { provider, id };
  throw new UsageError(
    `not a model: ${JSON.stringify(written)}; write provider/model, such as openai/gpt-5.2`,
    helpFor,
  );
}
