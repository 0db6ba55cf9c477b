// `openclaw models set`: sets the model to use from now on.
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { chooseModel, parseModelRef } from "../model-choice.ts";

export const command = defineCommand({
  arguments: [{ name: "model", description: "As provider/model, such as anthropic/claude-sonnet-4-5." }],
  options: {
    agent: { type: "string", value: "id", description: "Only for one agent." },
  },
  examples: [
    { line: "models set openai/gpt-5.2", does: "for all agents without their own model" },
    { line: "models set ollama/llama3.3 --agent support", does: "for one agent" },
  ],
  async run(io, { options, arguments: [written = ""] }) {
    const { provider, id } = parseModelRef(written, ["models", "set"]);
    const ref = `${provider}/${id}`;
    const place = options.agent === undefined ? "agents.defaults.model.primary" : `agents.list (${options.agent})`;
    const change = editConfig(io, place, ({ config }) => chooseModel(config, ref, options.agent));
    const who = options.agent === undefined ? "" : ` for agent ${options.agent}`;
    reportChange(io, change, change.changed ? `the model${who} is now ${ref}` : `the model${who} is already ${ref}`);
    if (!io.json) io.say("test it: openclaw models test");
    return 0;
  },
});
