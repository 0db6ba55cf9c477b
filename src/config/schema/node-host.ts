// `nodeHost`: what this machine lends when it runs as a node.
import { flag, notBuilt, section, texts } from "./field.ts";

export const nodeHost = notBuilt(
  section("What this machine offers when it runs as a node.", {
    browserProxy: section("The browser of this machine.", {
      enabled: flag("Offers the browser.", { default: true }),
      allowProfiles: texts("Browser profiles that are offered."),
    }),
  }),
);
