// The sources of turns: who wrote the text, and how far it is trusted.

/** `owner`: written by the owner. `agent`: the agent's own work. `untrusted`: other people or programs caused it. */
export type Trust = "owner" | "agent" | "untrusted";

interface SourceFacts {
  /** A person typed the text; other texts are shown with their source. */
  readonly isTyped: boolean;
  readonly trust: Exclude<Trust, "owner">;
  /** Queued messages of this source may be answered together in one turn. */
  readonly canMerge: boolean;
}

/** `trust` is used only when the poster does not vouch for the sender (`TurnRequest.authorised`). */
const turnSources = {
  /** The page, or another client of the gateway, through `chat.send`. */
  chat: { isTyped: true, trust: "untrusted", canMerge: true },
  /** The `agent` method of the gateway; its caller waits for the answer to this message. */
  agent: { isTyped: true, trust: "untrusted", canMerge: false },
  cli: { isTyped: true, trust: "untrusted", canMerge: false },
  /** The OpenAI-compatible endpoints, which need the gateway token. */
  http: { isTyped: true, trust: "agent", canMerge: false },
  cron: { isTyped: false, trust: "agent", canMerge: false },
  heartbeat: { isTyped: false, trust: "agent", canMerge: false },
  /** A message the agent posts without a model. */
  say: { isTyped: true, trust: "agent", canMerge: false },
  /** What the gateway asks the model after /new; a transcript names it, no turn is posted with it. */
  new: { isTyped: false, trust: "agent", canMerge: false },
  sessions_spawn: { isTyped: false, trust: "agent", canMerge: false },
  sessions_send: { isTyped: false, trust: "untrusted", canMerge: false },
  /** A webhook, or a hook script of the owner. */
  hook: { isTyped: false, trust: "untrusted", canMerge: false },
  node: { isTyped: false, trust: "untrusted", canMerge: false },
  voice: { isTyped: false, trust: "untrusted", canMerge: false },
} as const satisfies Readonly<Record<string, SourceFacts>>;

export type TurnSource = keyof typeof turnSources;

/** A stored row can name a source that this release does not know: it gets the least trust. */
const unknownSource: SourceFacts = { isTyped: true, trust: "untrusted", canMerge: false };

export function factsOfSource(source: string): SourceFacts {
  return Object.hasOwn(turnSources, source) ? turnSources[source as TurnSource] : unknownSource;
}
