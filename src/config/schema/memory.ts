// `memory`: the search backend of notes.
import { Type } from "../../core/schema.ts";
import { choice, closed, flag, group, list, notBuilt, section, sendRules, span, text, whole } from "./field.ts";

const millis = (what: string) => whole(`Milliseconds ${what}.`);

export const memory = section("Memory of the agents.", {
  backend: choice("Search backend. qmd is not built yet; the built-in index is used.", ["builtin", "qmd"], {
    default: "builtin",
  }),
  citations: choice("Whether results name file and line; auto leaves them out in groups.", ["auto", "on", "off"], {
    default: "auto",
  }),
  qmd: notBuilt(
    group("Settings of qmd.", {
      command: text("Program to run.", { default: "qmd" }),
      includeDefaultMemory: flag("Indexes the default notes.", { default: true }),
      paths: list(
        "Additional collections.",
        closed({
          path: Type.String({ description: "Folder." }),
          pattern: text("Files of the collection."),
          name: text("Name of the collection."),
        }),
      ),
      sessions: group("Transcripts.", {
        enabled: flag("Indexes transcripts."),
        retentionDays: whole("Days to keep them."),
        exportDir: text("Folder that they are written to.", { place: "hidden" }),
      }),
      update: group("When the index is updated.", {
        interval: span("Time between updates.", { default: "5m" }),
        debounceMs: millis("without further changes to wait"),
        onBoot: flag("Updates at startup."),
        waitForBootSync: flag("Waits for the update at startup.", { default: false }),
        embedInterval: span("Time between embeddings."),
        commandTimeoutMs: millis("a command may take"),
        updateTimeoutMs: millis("an update may take"),
        embedTimeoutMs: millis("an embedding may take"),
      }),
      limits: group("Size of results.", {
        maxResults: whole("Results."),
        maxSnippetChars: whole("Maximum number of characters of a snippet."),
        maxInjectedChars: whole("Maximum number of characters in total."),
        timeoutMs: millis("a search may take"),
      }),
      scope: sendRules("Chats in which searches are answered."),
    }),
  ),
});
