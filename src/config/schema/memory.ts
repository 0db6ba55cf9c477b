// `memory`: what answers searches in notes.
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
      includeDefaultMemory: flag("Index the usual notes.", { default: true }),
      paths: list(
        "Further collections.",
        closed({
          path: Type.String({ description: "Folder." }),
          pattern: text("Files in it."),
          name: text("Name of the collection."),
        }),
      ),
      sessions: group("Transcripts.", {
        enabled: flag("Index them."),
        retentionDays: whole("Days they are kept."),
        exportDir: text("Folder they are written to.", { place: "hidden" }),
      }),
      update: group("When the index is brought up to date.", {
        interval: span("Time between updates.", { default: "5m" }),
        debounceMs: millis("of quiet to wait for"),
        onBoot: flag("At the start."),
        waitForBootSync: flag("Wait for that at the start.", { default: false }),
        embedInterval: span("Time between embeddings."),
        commandTimeoutMs: millis("a command may take"),
        updateTimeoutMs: millis("an update may take"),
        embedTimeoutMs: millis("an embedding may take"),
      }),
      limits: group("How much comes back.", {
        maxResults: whole("Results."),
        maxSnippetChars: whole("Characters of a snippet."),
        maxInjectedChars: whole("Characters in all."),
        timeoutMs: millis("a search may take"),
      }),
      scope: sendRules("Where searches are answered."),
    }),
  ),
});
