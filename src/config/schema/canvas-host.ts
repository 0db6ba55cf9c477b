// `canvasHost`: the pages the agent shows on screens.
import { flag, notBuilt, section, text, whole } from "./field.ts";

export const canvasHost = notBuilt(
  section("Pages that agents show on screens.", {
    enabled: flag("Serves the pages.", { default: true }),
    root: text("Folder of the pages.", { fallback: "<workspace>/canvas" }),
    port: whole("Port of the pages.", { maximum: 65_535, fallback: "the gateway's port + 4 (18793)" }),
    liveReload: flag("Reloads a shown page when its files change.", { default: true }),
  }),
);
