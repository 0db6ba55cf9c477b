// Separates what the gateway wrote in a user message from what the person typed, so that each is drawn as its own row.

/** System events come first in a message: each starts with `System: [time]`, its further lines are indented. */
const systemLines = /^(?:System: \[[^\]\n]*\] [^\n]*(?:\n {2}[^\n]*)*(?:\n|$))+/;
const systemLine = /^System: \[[^\]\n]*\] ([^\n]*)(?:\n {2}([^\n]*))?/gm;
/** Ids in a system event are for the agent. */
const ids = /\b(?:\w+ )?id=[\w-]+,? ?/;
/** The kind of a message in brackets at its start, such as `[Subagent] `. */
const kindTag = /^\[[^\]\n]{1,40}\] /;

/** Sources whose text the gateway wrote as an instruction to the model: people see that it happened, not the text. */
const instructions: Readonly<Record<string, string>> = {
  heartbeat: "Heartbeat",
  new: "New session",
};
/** Sources that pass on a text from elsewhere. */
const titles: Readonly<Record<string, string>> = {
  cron: "Scheduled job",
  hook: "Webhook",
  node: "From a node",
  sessions_send: "From another session",
  sessions_spawn: "Subagent",
  voice: "Voice message",
};

export interface SystemMessage {
  readonly title: string;
  /** One line; empty when the title says it all. */
  readonly summary: string;
  /** The whole text; empty when it is for the model only. */
  readonly text: string;
}

/** A person typed no part of a message with a source; in other messages only the system events in front are not theirs. */
export function splitSystemMessage(
  text: string,
  source: string | undefined,
): { readonly system?: SystemMessage; readonly typed?: string } {
  const [lines = ""] = systemLines.exec(text) ?? [];
  const rest = text.slice(lines.length);
  if (source === undefined) {
    if (lines === "") return { typed: text };
    return { system: eventsMessage(lines), ...(rest === "" ? {} : { typed: rest }) };
  }
  const instruction = instructions[source];
  if (lines !== "") {
    const events = eventsMessage(lines);
    return { system: instruction === undefined ? { ...events, text } : events };
  }
  if (instruction !== undefined) return { system: { title: instruction, summary: "", text: "" } };
  return { system: { title: titles[source] ?? source, summary: firstLine(text), text } };
}

function eventsMessage(lines: string): SystemMessage {
  const [first = "", ...more] = [...lines.matchAll(systemLine)].map(([, line = "", next]) =>
    [line.replace(ids, ""), ...(next === undefined ? [] : [next])].join(": "),
  );
  return {
    title: first.startsWith("Exec ") ? "Command result" : "System event",
    summary: more.length === 0 ? first : `${first} (and ${more.length} more)`,
    text: lines.trimEnd(),
  };
}

function firstLine(text: string): string {
  return text.replace(kindTag, "").split("\n", 1)[0] ?? "";
}
