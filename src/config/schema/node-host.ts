// `nodeHost`: what this machine lends when it runs as a node.
import { flag, notBuilt, section, texts } from "./field.ts";

export const nodeHost = notBuilt(
  section("What this machine lends when it runs as a node.", {
    browserProxy: section("Its browser.", {
      enabled: flag("Lend it.", { default: true }),
      allowProfiles: texts("Only these profiles."),
    }),
  }),
);
