// `openclaw tools explain`: one decision in full: every layer, the deciding rule with file and line, the edit that turns it.
import { createReadingCatalog } from "../../app/catalog.ts";
import { subjectOf } from "../../tool/subject.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { modelOption, subjectRequest, whereOptions, whoOptions } from "../subject-options.ts";

export const command = defineCommand({
  arguments: [{ name: "tool", description: "Name of the tool, such as exec." }],
  options: {
    ...whoOptions,
    ...modelOption,
    ...whereOptions,
    schema: { type: "boolean", description: "Print the parameters the tool takes instead, as JSON Schema." },
    check: { type: "boolean", description: "Exit with 1 when the tool is denied or not there, for scripts." },
  },
  examples: [
    { line: "tools explain exec --agent support --model openai/gpt-5.2", does: "every layer for that agent and model" },
    {
      line: "tools explain message --channel telegram --group -100123 --sender 42",
      does: "in one group, for one person",
    },
    { line: "tools explain read --schema", does: "what to pass to openclaw tools call read" },
  ],
  exits: "0 explained, 1 there is no such tool (or, with --check, it may not be used), 2 wrong usage",
  async run(io, { options, arguments: [name = ""] }) {
    const loaded = await requireConfig(io);
    const subject = subjectOf(subjectRequest(options), loaded.config);
    const verdict = createReadingCatalog(io.paths(), io.env, loaded).judge(subject, name);
    const { decision, tool, unavailable, place } = verdict;
    const isKnown = decision.layers[0]?.verdict === "pass";
    if (options.schema === true && tool !== undefined) io.print(toJson(tool.params));
    else if (io.json)
      io.print(
        toJson({ decision, unavailable: unavailable ?? null, place: place ?? null, subject, text: verdict.explain() }),
      );
    else io.print(verdict.explain().replaceAll(loaded.path, shortPath(loaded.path, io)));
    const usable = decision.allowed && unavailable === undefined;
    return isKnown && (usable || options.check !== true) ? 0 : 1;
  },
});
