// `canvasHost`: the pages the agent shows on screens.
import { flag, notBuilt, section, text, whole } from "./field.ts";

export const canvasHost = notBuilt(
  section("Pages that agents show on screens.", {
    enabled: flag("Serve them.", { default: true }),
    root: text("Folder they live in.", { fallback: "<workspace>/canvas" }),
    port: whole("Port they are served on.", { maximum: 65_535, fallback: "the gateway's port + 4 (18793)" }),
    liveReload: flag("Reload a shown page when its files change.", { default: true }),
  }),
);
