// `ui`: the agent's appearance in apps.
import { group, notBuilt, text } from "./field.ts";

export const ui = group("Appearance in apps.", {
  seamColor: notBuilt(text("Accent color.", { pattern: "^#?[0-9a-fA-F]{6}$" })),
  assistant: group("The agent's appearance in apps.", {
    name: text("Display name."),
    avatar: text("Avatar: a path, a URL, or a few letters."),
  }),
});
