// `discovery`: how apps find the gateway in the network.
import { choice, flag, notBuilt, section, text } from "./field.ts";

export const discovery = section("How apps find the gateway on the network.", {
  mdns: section("Announcement on the local network, when the gateway is bound beyond this machine.", {
    mode: choice(
      "How much the announcement contains: minimal is name, port and certificate, full adds the SSH port and the path of the command line, off announces nothing.",
      ["minimal", "full", "off"],
      { default: "minimal" },
    ),
  }),
  wideArea: notBuilt(
    section("Announcement through DNS.", {
      enabled: flag("Writes a zone file.", { default: false }),
      domain: text("Domain of the zone."),
    }),
  ),
});
