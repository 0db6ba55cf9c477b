// `agents`: what all agents share, and the list of agents.
import { thinkingLevels } from "../../core/thinking-level.ts";
import { Type } from "../../core/schema.ts";
import { agentMemorySearch, memorySearch } from "./agent-memory.ts";
import { agentSandbox, sandbox } from "./agent-sandbox.ts";
import {
  anything,
  choice,
  closed,
  flag,
  group,
  list,
  notBuilt,
  number,
  overriding,
  record,
  section,
  span,
  text,
  texts,
  whole,
} from "./field.ts";
import { modelChoice } from "./models.ts";
import { agentTools, defaultAgentTools } from "./tools.ts";

const heartbeatProperties = {
  every: span("Time between heartbeats, such as 30m; a number without a unit is minutes, 0 turns heartbeats off.", {
    fallback: "30m, or 1h with Anthropic OAuth",
  }),
  model: text("Model for heartbeats."),
  session: text("Session of heartbeats.", { default: "main" }),
  target: text("Where alerts are sent: last, none or a channel.", { default: "last" }),
  to: text("Recipient on that channel."),
  accountId: text("Account that sends."),
  prompt: text("Prompt for the agent."),
  ackMaxChars: whole("Maximum number of characters that a reply without an alert may have besides its token.", {
    default: 300,
  }),
  includeReasoning: flag("Delivers the reasoning, too.", { default: false }),
  activeHours: group("Hours of the day in which heartbeats run.", {
    start: text("Start time, as HH:MM.", { pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" }),
    end: text("End time, as HH:MM or 24:00.", { pattern: "^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$" }),
    timezone: text("Time zone: user, local or a name such as Europe/Vienna."),
  }),
};

const humanDelay = notBuilt(
  group("Pauses between the parts of a reply.", {
    mode: choice("How long to pause.", ["off", "natural", "custom"], { default: "off" }),
    minMs: whole("Minimum pause for custom.", { fallback: "800" }),
    maxMs: whole("Maximum pause for custom.", { fallback: "2500" }),
  }),
);

const identity = group("How the agent presents itself.", {
  name: text("Name of the agent."),
  theme: text("Character of the agent in a few words."),
  emoji: text("Emoji of the agent, also used to acknowledge messages."),
  avatar: text("Avatar: a path in the workspace, a URL or a data URI."),
});

const cliBackend = closed({
  command: text("Program to run."),
  args: texts("Arguments."),
  env: record("Environment of the program.", Type.String()),
  output: choice("Output format of the program.", ["json", "jsonl", "text"]),
  input: choice("How the program receives the prompt.", ["arg", "stdin"]),
  maxPromptArgChars: whole("Maximum length of a prompt passed as an argument."),
  modelArg: text("Option for the model."),
  modelAliases: record("The program's names for our models.", Type.String()),
  sessionArg: text("Option for the session id."),
  sessionArgs: texts("Arguments for a session; {sessionId} is replaced."),
  sessionMode: choice("When the session id is passed.", ["always", "existing", "none"]),
  sessionIdFields: texts("Output fields with the session id."),
  resumeArgs: texts("Arguments that resume a session."),
  resumeOutput: choice("Output format when it resumes.", ["json", "jsonl", "text"]),
  systemPromptArg: text("Option for the system prompt."),
  systemPromptMode: choice("Whether it appends to the program's own prompt or replaces it.", ["append", "replace"]),
  systemPromptWhen: choice("When the system prompt is passed.", ["first", "always", "never"]),
  imageArg: text("Option for an image."),
  imageMode: choice("How several images are passed.", ["repeat", "list"]),
  clearEnv: texts("Environment variables that are removed."),
  serialize: flag("Runs one at a time."),
});

const contextPruning = section("Trims old tool results in requests to the model.", {
  mode: choice("When old tool results are trimmed.", ["off", "cache-ttl", "adaptive", "aggressive"], {
    fallback: "off, or cache-ttl with Anthropic",
  }),
  ttl: span("Age of the prompt cache after which results are trimmed.", { default: "5m" }),
  keepLastAssistants: whole("Number of latest replies whose tool results are kept.", { default: 3 }),
  softTrimRatio: number("Share of the context window from which results are shortened.", {
    default: 0.3,
    minimum: 0,
    maximum: 1,
  }),
  hardClearRatio: number("Share of the context window from which results are cleared.", {
    default: 0.5,
    minimum: 0,
    maximum: 1,
  }),
  minPrunableToolChars: whole("Results with fewer characters in total than this are not trimmed.", { default: 50_000 }),
  softTrim: section("How a result is shortened.", {
    maxChars: whole("Results with more characters than this are shortened.", { default: 4000 }),
    headChars: whole("Characters kept from the start.", { default: 1500 }),
    tailChars: whole("Characters kept from the end.", { default: 1500 }),
  }),
  hardClear: section("How a result is cleared.", {
    enabled: flag("Clears results.", { default: true }),
    placeholder: text("Text that replaces a cleared result.", { default: "[Old tool result content cleared]" }),
  }),
  tools: group("Tools whose results may be trimmed.", {
    allow: texts("Only the results of these tools."),
    deny: texts("Never the results of these tools."),
  }),
});

const spending = (what: string) =>
  group(`What ${what} may use.`, {
    tokens: whole("Maximum number of input and output tokens.", { minimum: 1 }),
    usd: number("Maximum cost in US dollars, by known prices.", { minimum: 0 }),
    calls: whole("Maximum number of requests to models.", { minimum: 1 }),
    minutes: number("Maximum running time in minutes.", { minimum: 0 }),
  });

const budget = group("Limits that stop a run, with an error that names the limit.", {
  turn: spending("one turn"),
  session: spending("one session in all"),
  agent: spending("an agent in a day"),
  day: spending("all agents together in a day"),
});

const chunkBreak = choice("Preferred place to split.", ["paragraph", "newline", "sentence"], { default: "paragraph" });

const defaults = section("Defaults of all agents.", {
  workspace: text("Folder that the agent works in.", { fallback: "~/.openclaw/workspace" }),
  repoRoot: notBuilt(text("Repository that the prompt names.")),
  skipBootstrap: notBuilt(flag("Do not create the workspace's starting files.", { default: false })),
  bootstrapMaxChars: whole("Maximum number of characters of each workspace file in the prompt.", { default: 20_000 }),
  userTimezone: text("Time zone of the owner.", { fallback: "that of the host" }),
  timeFormat: notBuilt(choice("How times are written.", ["auto", "12", "24"], { default: "auto" })),
  envelopeTimezone: notBuilt(
    text("Time zone of message timestamps: local, utc, user or a zone.", { default: "local" }),
  ),
  envelopeTimestamp: notBuilt(choice("Adds the time to messages.", ["on", "off"], { default: "on" })),
  envelopeElapsed: notBuilt(
    choice("Adds the time since the last message to messages.", ["on", "off"], { default: "on" }),
  ),
  model: modelChoice("Model that answers."),
  imageModel: modelChoice("Model for images when the first one does not accept images."),
  models: record(
    "Models that can be selected, by provider/model, with their settings.",
    closed({
      alias: text("Alias of the model."),
      params: anything("Parameters sent with every request, such as temperature or maxTokens."),
      streaming: flag("Streams replies."),
    }),
  ),
  contextTokens: whole("Maximum number of context tokens to use.", { minimum: 1 }),
  cliBackends: notBuilt(record("Command lines that can answer instead of a provider.", cliBackend)),
  thinkingDefault: choice("Default thinking level.", thinkingLevels, {
    fallback: "low for thinking models, else off",
  }),
  verboseDefault: choice("How much of tool calls chats show.", ["off", "on", "full"], { default: "off" }),
  elevatedDefault: choice("Elevated level of new sessions.", ["off", "on", "ask", "full"], {
    fallback: "none, so that only calls that ask for it are elevated",
  }),
  timeoutSeconds: whole("Maximum duration of a run in seconds.", { default: 600, minimum: 1 }),
  mediaMaxMb: number("Largest picture in megabytes that is sent to a model; larger ones are scaled down.", {
    default: 5,
    minimum: 0,
  }),
  maxConcurrent: whole("Maximum number of runs at the same time.", { default: 4, minimum: 1 }),
  budget,
  blockStreamingDefault: notBuilt(
    choice("Sends finished parts of a reply immediately.", ["on", "off"], { default: "off" }),
  ),
  blockStreamingBreak: notBuilt(
    choice("When a part is finished.", ["text_end", "message_end"], { default: "text_end" }),
  ),
  blockStreamingChunk: notBuilt(
    section("Size of the parts.", {
      minChars: whole("Minimum number of characters.", { default: 800 }),
      maxChars: whole("Maximum number of characters.", { default: 1200 }),
      breakPreference: chunkBreak,
    }),
  ),
  blockStreamingCoalesce: notBuilt(
    section("Merging of small parts.", {
      minChars: whole("Waits for this many characters."),
      maxChars: whole("Sends at this many characters."),
      idleMs: whole("Sends after this many milliseconds without new text.", { default: 1000 }),
    }),
  ),
  humanDelay,
  typingMode: notBuilt(choice("When the typing indicator is shown.", ["never", "instant", "thinking", "message"])),
  typingIntervalSeconds: notBuilt(
    number("Seconds between renewals of the typing indicator.", { default: 6, minimum: 1 }),
  ),
  heartbeat: section("Regular turns in which the agent checks what needs attention.", heartbeatProperties),
  subagents: section("Subagents that an agent starts.", {
    model: modelChoice("Model of subagents."),
    thinking: text("Thinking level of subagents."),
    maxConcurrent: whole("Maximum number of subagents that run at the same time.", { default: 8, minimum: 1 }),
    maxChildren: whole("Maximum number of running and waiting subagents of one session.", { default: 200, minimum: 1 }),
    archiveAfterMinutes: number("Minutes after which a finished subagent is archived; 0 never archives.", {
      default: 60,
      minimum: 0,
    }),
  }),
  compaction: section("Compaction: replaces the older part of a long session by a summary.", {
    mode: choice("Compaction mode.", ["default", "safeguard"], { default: "default" }),
    reserveTokensFloor: whole("Number of tokens to keep free.", { default: 20_000 }),
    maxHistoryShare: notBuilt(number("Maximum share of the context for the old part.", { minimum: 0, maximum: 1 })),
    memoryFlush: section("A silent turn before compaction in which the agent saves lasting notes.", {
      enabled: flag("Enables the silent turn.", { default: true }),
      softThresholdTokens: whole("Number of tokens before the limit at which it runs.", { default: 4000 }),
      prompt: text("Prompt for the agent."),
      systemPrompt: text("Text that is added to the system prompt."),
    }),
  }),
  contextPruning,
  memorySearch,
  sandbox,
  tools: defaultAgentTools,
});

const agent = overriding(
  closed({
    id: Type.String({ minLength: 1, description: "Id of the agent: letters, digits, - and _." }),
    default: flag("Makes this the agent that replies when no binding matches."),
    name: text("Display name."),
    workspace: text("Folder that the agent works in.", { fallback: "~/.openclaw/workspace-<id>" }),
    agentDir: text("Folder of the agent's own state; never shared with another agent.", {
      fallback: "<state>/agents/<id>/agent",
      place: "hidden",
    }),
    model: modelChoice("Model of the agent; a plain name keeps the fallbacks of the defaults."),
    skills: texts("Skills the agent may use; by default all, an empty list means none."),
    identity,
    groupChat: group("Behavior in groups.", {
      mentionPatterns: texts("Patterns that count as a mention."),
      historyLimit: whole("Number of earlier messages that the agent sees."),
    }),
    heartbeat: group(
      "Heartbeat of this agent. As soon as one agent has its own block, only agents with a block have heartbeats.",
      heartbeatProperties,
    ),
    budget,
    humanDelay,
    sandbox: agentSandbox,
    memorySearch: agentMemorySearch,
    subagents: group("Subagents that this agent starts.", {
      allowAgents: texts("Agents that it may start; * allows all."),
      model: modelChoice("Model of subagents."),
      thinking: text("Thinking level of subagents."),
    }),
    tools: agentTools,
  }),
);

export const agents = section("The agents and their defaults.", {
  defaults,
  list: list("The agents; by default there is one, named main.", agent),
});
