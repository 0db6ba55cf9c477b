// `plugins`: which plugins load, and their settings.
import { Type } from "../../core/schema.ts";
import { anything, closed, flag, group, notBuilt, record, section, text, texts } from "./field.ts";

export const plugins = section("Plugins and the parts they can replace.", {
  enabled: notBuilt(flag("Loads plugins.", { default: true })),
  allow: notBuilt(texts("Only these plugins load.")),
  deny: notBuilt(texts("Plugins that never load.")),
  load: notBuilt(
    group("Where plugins are searched.", { paths: texts("Additional files or folders.", { place: "kept" }) }),
  ),
  slots: Type.Optional(
    Type.Object(
      { memory: text("Memory plugin; none turns memory off.", { fallback: "memory-core" }) },
      {
        description: "The plugin of each slot that only one plugin can have.",
        additionalProperties: Type.String({ description: "Plugin id, or none." }),
      },
    ),
  ),
  entries: notBuilt(
    record(
      "Settings of each plugin.",
      closed({
        enabled: flag("Loads this plugin."),
        config: anything("Settings of the plugin, as its manifest describes them."),
      }),
    ),
  ),
  installs: notBuilt(record("Plugins installed from packages.", Type.Record(Type.String(), Type.Unknown()))),
});
