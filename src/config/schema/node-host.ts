// `nodeHost`: what this machine offers when it runs as a node.
import { flag, section, texts } from "./field.ts";

export const nodeHost = section("What this machine offers when it runs as a node.", {
  browserProxy: section("The browsers of this machine.", {
    enabled: flag("Offers them to the gateway.", { default: true }),
    allowProfiles: texts("Browser profiles that the gateway may use; by default all."),
  }),
});
