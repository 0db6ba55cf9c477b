// `openclaw tools explain`: shows one decision in full: every layer, the deciding rule, and the edit that reverses it.
import { visible } from "../../core/visible.ts";
import { createGuard, type GuardCheck } from "../../media/guard/guard.ts";
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
    schema: { type: "boolean", description: "Print the parameters of the tool instead, as JSON Schema." },
    url: {
      type: "string",
      value: "url",
      description:
        "Also show what the guard for outgoing requests would do with this URL. Resolves the name, connects to none.",
    },
    check: { type: "boolean", description: "Exit with 1 when the tool is blocked or not available, for scripts." },
  },
  examples: [
    { line: "tools explain exec --agent support --model openai/gpt-5.2", does: "every layer for that agent and model" },
    {
      line: "tools explain message --channel telegram --group -100123 --sender 42",
      does: "in one group, for one person",
    },
    { line: "tools explain web_fetch --url http://nas.local/", does: "whether an agent may fetch this URL, and why" },
    { line: "tools explain read --schema", does: "the parameters for openclaw tools call read" },
  ],
  exits: "0 explained, 1 unknown tool (with --check also: blocked or not available), 2 wrong usage",
  async run(io, { options, arguments: [name = ""] }) {
    const loaded = await requireConfig(io);
    const subject = subjectOf(subjectRequest(options), loaded.config);
    const verdict = createReadingCatalog(io.paths(), io.env, loaded).judge(subject, name);
    const { decision, tool, unavailable, place } = verdict;
    const isKnown = decision.layers[0]?.verdict === "pass";
    const guard =
      options.url === undefined
        ? undefined
        : await createGuard({ config: () => loaded.config, env: io.env }).check(options.url);
    if (options.schema === true && tool !== undefined) io.print(toJson(tool.params));
    else if (io.json)
      io.print(
        toJson({
          decision,
          unavailable: unavailable ?? null,
          place: place ?? null,
          subject,
          text: verdict.explain(),
          ...(guard === undefined ? {} : { guard }),
        }),
      );
    else {
      io.print(verdict.explain().replaceAll(loaded.path, shortPath(loaded.path, io)));
      if (guard !== undefined) io.print(["", ...guardLines(guard, options.url ?? "")].join("\n"));
    }
    const usable = decision.allowed && unavailable === undefined && guard?.allowed !== false;
    return isKnown && (usable || options.check !== true) ? 0 : 1;
  },
});

function guardLines({ allowed, code, reason, hint, url, addresses, exception }: GuardCheck, given: string): string[] {
  return [
    `Guard for outgoing requests: ${allowed ? "allowed" : "blocked"}`,
    `  URL        ${visible(url ?? given, 200)}`,
    ...(addresses.length === 0 ? [] : [`  Addresses  ${addresses.slice(0, 8).join(", ")}`]),
    `  Why        ${visible(reason, 300)}${code === undefined ? "" : ` [${code}]`}`,
    ...(exception === undefined ? [] : [`  Exception  tools.web.allowPrivateHosts: ${exception}`]),
    ...(hint === undefined ? [] : [`  Change it  ${hint}`]),
    ...(allowed ? ["  Redirects are checked in the same way, one by one."] : []),
  ];
}
