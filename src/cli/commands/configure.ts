// `openclaw configure`: asks for one part of the config at a time; the same answers can be given as flags.
import { OpenClawError } from "../../core/error.ts";
import { askChoice, askLine, askSecret } from "../ask.ts";
import { defineCommand, UsageError } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { sections, type Question } from "../config-sections.ts";
import { configureModel } from "../configure-model.ts";
import type { Io } from "../io.ts";
import { parseJson5 } from "../json5.ts";
import { requireConfig } from "../settings.ts";

const names = ["model", ...Object.keys(sections)];

export const command = defineCommand({
  details: `Asks questions at a terminal; scripts give the answers as flags. Sections: ${names.join(", ")}. The API key of a model goes into a private file beside the config, not into the config.`,
  options: {
    section: {
      type: "string",
      multiple: true,
      value: "name",
      choices: [...names, "models"],
      description: "Section to configure (default: model).",
    },
    provider: { type: "string", value: "id", description: "Model: anthropic, openai, google, openrouter, ollama, …" },
    key: { type: "string", value: "key", description: "Model: the API key; - reads it from stdin." },
    "key-env": { type: "string", value: "NAME", description: "Model: take the key from this environment variable." },
    "base-url": { type: "string", value: "url", description: "Model: root of an OpenAI-compatible server." },
    model: { type: "string", value: "provider/model", description: "Model: the model to use from now on." },
    "skip-test": { type: "boolean", description: "Model: do not test it." },
    set: { type: "string", multiple: true, value: "path=value", description: "Other sections: an answer by its key." },
  },
  examples: [
    { line: "configure --section model", does: "asks for provider, key and model, and tests it" },
    {
      line: "configure --section model --provider openai --key-env OPENAI_API_KEY --model openai/gpt-5.2",
      does: "without questions",
    },
    {
      line: "configure --section model --provider lab --base-url http://127.0.0.1:8000/v1 --model lab/qwen3",
      does: "your own server",
    },
    {
      line: "configure --section web --set tools.web.search.provider=brave",
      does: "another section, without questions",
    },
  ],
  async run(io, { options }) {
    const wanted = options.section ?? ["model"];
    await requireConfig(io);
    for (const section of wanted) {
      if (section === "model" || section === "models") await configureModel(io, options);
      else await configureSection(io, section, options.set ?? []);
    }
    return 0;
  },
});

async function configureSection(io: Io, section: string, given: readonly string[]): Promise<void> {
  const questions = sections[section] ?? [];
  const answers =
    given.length > 0 ? given.map((pair) => readPair(pair, section, questions)) : await askAll(io, section, questions);
  if (answers.length === 0) {
    io.say(`nothing was changed in ${section}`);
    return;
  }
  const change = editConfig(io, section, () => answers);
  reportChange(io, change, `set ${answers.map(({ path }) => path).join(", ")}`);
}

interface SectionAnswer {
  readonly path: string;
  readonly value: unknown;
}

function readPair(pair: string, section: string, questions: readonly Question[]): SectionAnswer {
  const equals = pair.indexOf("=");
  const path = pair.slice(0, equals);
  const question = questions.find((candidate) => candidate.path === path);
  if (equals <= 0 || question === undefined)
    throw new UsageError(
      `--set for section ${section} must be one of ${questions.map((known) => `${known.path}=…`).join(", ")}, not ${JSON.stringify(pair)}`,
      ["configure"],
    );
  return { path, value: valueOf(pair.slice(equals + 1), question) };
}

/** An empty answer keeps the current value. */
async function askAll(io: Io, section: string, questions: readonly Question[]): Promise<SectionAnswer[]> {
  const answers: SectionAnswer[] = [];
  for (const question of questions) {
    const { when } = question;
    if (when !== undefined && answers.find(({ path }) => path === when.path)?.value !== when.is) continue;
    const flag = `--section ${section} --set ${question.path}=…`;
    const written =
      question.choices !== undefined
        ? await askChoice(io, question.ask, question.choices, flag)
        : question.secret === true
          ? await askSecret(io, `${question.ask} (empty to keep the current value):`, flag)
          : await askLine(io, `${question.ask} (empty to keep the current value):`, flag);
    if (written !== "") answers.push({ path: question.path, value: valueOf(written, question) });
  }
  return answers;
}

function valueOf(written: string, { path, number, choices }: Question): unknown {
  if (choices !== undefined && !choices.includes(written))
    throw new OpenClawError(
      "cli.bad-answer",
      `${path} must be one of ${choices.join(", ")}, not ${JSON.stringify(written)}`,
      {
        hint: `openclaw config set ${path} ${choices[0] ?? ""}`,
      },
    );
  if (number !== true) return written;
  const parsed = parseJson5(written);
  if (parsed.ok && typeof parsed.value === "number") return parsed.value;
  throw new OpenClawError("cli.bad-answer", `${path} must be a number, not ${JSON.stringify(written)}`, {
    hint: `openclaw config set ${path} <number>`,
  });
}
