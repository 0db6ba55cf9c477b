// `ui`: how the agent looks in apps.
import { group, notBuilt, text } from "./field.ts";

export const ui = group("How the agent looks in apps.", {
  seamColor: notBuilt(text("Accent colour.", { pattern: "^#?[0-9a-fA-F]{6}$" })),
  assistant: group("The agent in apps.", {
    name: text("Name."),
    avatar: text("Picture: a path, a URL, or a few letters."),
  }),
});
