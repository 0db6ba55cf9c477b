// What the gateway told the agent in a message: never the person's own words, so it is drawn apart from them. Pure.

/** Lines of the house stand in front of what was said; only the house begins a line so, the rest of one is set in. */
const houseLines = /^(?:System: \[[^\]\n]*\] [^\n]*(?:\n {2}[^\n]*)*(?:\n|$))+/;
const houseLine = /^System: \[[^\]\n]*\] ([^\n]*)(?:\n {2}([^\n]*))?/gm;
/** Of use to the agent only. */
const ids = /\b(?:\w+ )?id=[\w-]+,? ?/;
/** How a message names what it is, in brackets at its start. */
const ownTag = /^\[[^\]\n]{1,40}\] /;

const titles: Readonly<Record<string, string>> = {
  cron: "Scheduled job",
  heartbeat: "Heartbeat",
  hook: "Hook",
  node: "From a node",
  sessions_send: "From another session",
  sessions_spawn: "Sub-agent",
  voice: "By voice",
};
const news = "News for the agent";

export interface Told {
  readonly title: string;
  /** What it is about, in one line. */
  readonly gist: string;
  readonly text: string;
}

/** A message with a source was not written by a person at all; else the lines of the house in front of it were not. */
export function splitTold(text: string, source: string | undefined): { readonly told?: Told; readonly said?: string } {
  const [lines = ""] = houseLines.exec(text) ?? [];
  if (source !== undefined) {
    const title = lines === "" ? (titles[source] ?? source) : news;
    return { told: { title, gist: lines === "" ? firstLine(text) : gistOf(lines), text } };
  }
  if (lines === "") return { said: text };
  const said = text.slice(lines.length);
  return { told: { title: news, gist: gistOf(lines), text: lines.trimEnd() }, ...(said === "" ? {} : { said }) };
}

function firstLine(text: string): string {
  return text.replace(ownTag, "").split("\n", 1)[0] ?? "";
}

function gistOf(lines: string): string {
  const [first = "", ...more] = [...lines.matchAll(houseLine)].map(([, words = "", next]) =>
    [words.replace(ids, ""), ...(next === undefined ? [] : [next])].join(": "),
  );
  return more.length === 0 ? first : `${first} (and ${more.length} more)`;
}
