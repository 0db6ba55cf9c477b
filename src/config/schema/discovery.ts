// `discovery`: how apps find the gateway in the network.
import { choice, flag, notBuilt, section, text } from "./field.ts";

export const discovery = notBuilt(
  section("How apps find the gateway on the network.", {
    mdns: section("Announcement on the local network.", {
      mode: choice("How much the announcement contains.", ["minimal", "full", "off"], { default: "minimal" }),
    }),
    wideArea: section("Announcement through DNS.", {
      enabled: flag("Writes a zone file.", { default: false }),
      domain: text("Domain of the zone."),
    }),
  }),
);
