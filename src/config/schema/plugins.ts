// `plugins`: which plugins load, and their settings.
import { Type } from "../../core/schema.ts";
import { anything, closed, flag, group, notBuilt, record, section, text, texts } from "./field.ts";

export const plugins = section("Plugins.", {
  enabled: notBuilt(flag("Load plugins.", { default: true })),
  allow: notBuilt(texts("Only these load.")),
  deny: notBuilt(texts("These never load.")),
  load: notBuilt(group("Where they are looked for.", { paths: texts("Further files or folders.", { place: "kept" }) })),
  slots: Type.Optional(
    Type.Object(
      { memory: text("Plugin that keeps the memory, or none.", { fallback: "memory-core" }) },
      {
        description: "Which plugin fills a place only one can have.",
        additionalProperties: Type.String({ description: "Plugin id, or none." }),
      },
    ),
  ),
  entries: notBuilt(
    record(
      "Settings per plugin.",
      closed({ enabled: flag("Load this one."), config: anything("Its own settings; its manifest says which.") }),
    ),
  ),
  installs: notBuilt(record("What was installed from packages.", Type.Record(Type.String(), Type.Unknown()))),
});
