// `skills`: instructions the agent reads when it needs them.
import { Type } from "../../core/schema.ts";
import { anything, choice, closed, flag, notBuilt, record, secret, section, texts, whole } from "./field.ts";

export const skills = notBuilt(
  section("Skills: instructions that an agent reads when it needs them.", {
    allowBundled: texts("Only these bundled skills."),
    load: section("Where skills are searched.", {
      extraDirs: texts("Additional folders.", { place: "kept" }),
      watch: flag("Watches for changes.", { default: true }),
      watchDebounceMs: whole("Milliseconds without further changes to wait.", { default: 250 }),
    }),
    install: section("How dependencies of skills are installed.", {
      preferBrew: flag("Prefers Homebrew where it is installed.", { default: true }),
      nodeManager: choice("Package manager for Node.", ["npm", "pnpm", "yarn", "bun"], { default: "npm" }),
    }),
    entries: record(
      "Settings per skill.",
      closed({
        enabled: flag("Enables this skill."),
        apiKey: secret("API key of the skill."),
        env: record("Environment variables of the skill.", Type.String()),
        config: anything("Settings of the skill."),
      }),
    ),
  }),
);
