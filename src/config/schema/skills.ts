// `skills`: instructions the agent reads when it needs them.
import { Type } from "../../core/schema.ts";
import { anything, choice, closed, flag, notBuilt, record, secret, section, texts, whole } from "./field.ts";

export const skills = notBuilt(
  section("Skills: instructions that an agent reads when it needs them.", {
    allowBundled: texts("Only these of the bundled ones."),
    load: section("Where they are looked for.", {
      extraDirs: texts("Further folders.", { place: "kept" }),
      watch: flag("Notice changes.", { default: true }),
      watchDebounceMs: whole("Milliseconds of quiet to wait for.", { default: 250 }),
    }),
    install: section("How what they need is installed.", {
      preferBrew: flag("Take Homebrew where it is.", { default: true }),
      nodeManager: choice("Package manager for Node.", ["npm", "pnpm", "yarn", "bun"], { default: "npm" }),
    }),
    entries: record(
      "Settings per skill.",
      closed({
        enabled: flag("Offer this one."),
        apiKey: secret("Its key."),
        env: record("Its environment.", Type.String()),
        config: anything("Its own settings."),
      }),
    ),
  }),
);
