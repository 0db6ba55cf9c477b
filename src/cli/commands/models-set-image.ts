// `openclaw models set-image`: the model that answers questions about pictures.
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { parseModelRef } from "../model-choice.ts";

export const command = defineCommand({
  arguments: [{ name: "model", description: "As provider/model, such as openai/gpt-5.2." }],
  examples: [
    { line: "models set-image google/gemini-3-pro-preview", does: "for the image tool and for pictures in chats" },
  ],
  async run(io, { arguments: [written = ""] }) {
    const { provider, id } = parseModelRef(written, ["models", "set-image"]);
    const ref = `${provider}/${id}`;
    const path = ["agents", "defaults", "imageModel"];
    const change = editConfig(io, path.join("."), ({ config }) => {
      const now = config.agents?.defaults?.imageModel;
      return typeof now === "string" || now === undefined
        ? [{ path, value: { primary: ref } }]
        : [{ path: [...path, "primary"], value: ref }];
    });
    reportChange(io, change, `${ref} answers questions about pictures`);
    return 0;
  },
});
