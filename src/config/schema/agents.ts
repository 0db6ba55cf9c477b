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
  every: span("Time between heartbeats; a bare number is minutes, 0 turns them off.", {
    fallback: "30m, or 1h with Anthropic OAuth",
  }),
  model: text("Model that answers heartbeats."),
  session: text("Session they run in.", { default: "main" }),
  target: text("Where an alert goes: last, none or a channel.", { default: "last" }),
  to: text("Recipient on that channel."),
  accountId: text("Account that sends."),
  prompt: text("What the agent is asked."),
  ackMaxChars: whole("Characters an all-clear may have besides its token.", { default: 300 }),
  includeReasoning: flag("Also deliver the reasoning.", { default: false }),
  activeHours: group("Hours in which heartbeats run.", {
    start: text("First minute, as HH:MM.", { pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" }),
    end: text("Last minute, as HH:MM or 24:00.", { pattern: "^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$" }),
    timezone: text("user, local or a zone such as Europe/Vienna."),
  }),
};

const humanDelay = notBuilt(
  group("Pauses between the parts of a reply.", {
    mode: choice("How long to pause.", ["off", "natural", "custom"], { default: "off" }),
    minMs: whole("Shortest pause for custom.", { fallback: "800" }),
    maxMs: whole("Longest pause for custom.", { fallback: "2500" }),
  }),
);

const identity = group("Who the agent is to people.", {
  name: text("Its name."),
  theme: text("Its character in a few words."),
  emoji: text("Its sign, also used to acknowledge messages."),
  avatar: text("Picture: a path in the workspace, a URL or a data URI."),
});

const cliBackend = closed({
  command: text("Program to run."),
  args: texts("Arguments."),
  env: record("Environment of the program.", Type.String()),
  output: choice("What it prints.", ["json", "jsonl", "text"]),
  input: choice("How it takes the prompt.", ["arg", "stdin"]),
  maxPromptArgChars: whole("Longest prompt given as an argument."),
  modelArg: text("Option that names the model."),
  modelAliases: record("Its names for our models.", Type.String()),
  sessionArg: text("Option that names the session."),
  sessionArgs: texts("Arguments for a session; {sessionId} is replaced."),
  sessionMode: choice("When a session is named.", ["always", "existing", "none"]),
  sessionIdFields: texts("Output fields that hold the session id."),
  resumeArgs: texts("Arguments that go on with a session."),
  resumeOutput: choice("What it prints when it goes on.", ["json", "jsonl", "text"]),
  systemPromptArg: text("Option that takes the system prompt."),
  systemPromptMode: choice("Add to its own prompt or replace it.", ["append", "replace"]),
  systemPromptWhen: choice("When the system prompt is given.", ["first", "always", "never"]),
  imageArg: text("Option that takes a picture."),
  imageMode: choice("How several pictures are given.", ["repeat", "list"]),
  clearEnv: texts("Variables taken out of its environment."),
  serialize: flag("One run at a time."),
});

const contextPruning = section("Trimming old tool results.", {
  mode: choice("When to trim.", ["off", "cache-ttl", "adaptive", "aggressive"], {
    fallback: "off, or cache-ttl with Anthropic",
  }),
  ttl: span("Age of the prompt cache after which to trim.", { default: "5m" }),
  keepLastAssistants: whole("Latest answers whose tool results stay.", { default: 3 }),
  softTrimRatio: number("Fill of the context from which results are shortened.", {
    default: 0.3,
    minimum: 0,
    maximum: 1,
  }),
  hardClearRatio: number("Fill of the context from which results are cleared.", {
    default: 0.5,
    minimum: 0,
    maximum: 1,
  }),
  minPrunableToolChars: whole("Characters of results below which nothing happens.", { default: 50_000 }),
  softTrim: section("How a result is shortened.", {
    maxChars: whole("Results longer than this are shortened.", { default: 4000 }),
    headChars: whole("Characters kept from the start.", { default: 1500 }),
    tailChars: whole("Characters kept from the end.", { default: 1500 }),
  }),
  hardClear: section("How a result is cleared.", {
    enabled: flag("Clear results at all.", { default: true }),
    placeholder: text("What stands in its place.", { default: "[Old tool result content cleared]" }),
  }),
  tools: group("Tools whose results may be trimmed.", {
    allow: texts("Only these."),
    deny: texts("Never these."),
  }),
});

const spending = (what: string) =>
  group(`What ${what} may use.`, {
    tokens: whole("Tokens in and out.", { minimum: 1 }),
    usd: number("US dollars, by the prices known.", { minimum: 0 }),
    calls: whole("Requests to models.", { minimum: 1 }),
    minutes: number("Minutes of running.", { minimum: 0 }),
  });

const budget = group("Limits that end a run with a clear word before they are passed.", {
  turn: spending("one turn"),
  session: spending("one session in all"),
  agent: spending("an agent in a day"),
  day: spending("all agents together in a day"),
});

const chunkBreak = choice("Where to cut first.", ["paragraph", "newline", "sentence"], { default: "paragraph" });

const defaults = section("What every agent starts from.", {
  workspace: text("Folder the agent works in.", { fallback: "~/.openclaw/workspace" }),
  repoRoot: notBuilt(text("Repository shown to the model; else the nearest one above the workspace.")),
  skipBootstrap: notBuilt(flag("Do not create the workspace's starting files.", { default: false })),
  bootstrapMaxChars: whole("Characters of each workspace file put in the prompt.", { default: 20_000 }),
  userTimezone: text("Your time zone.", { fallback: "that of the host" }),
  timeFormat: notBuilt(choice("How times are written.", ["auto", "12", "24"], { default: "auto" })),
  envelopeTimezone: notBuilt(text("Zone of the times on messages: local, utc, user or a zone.", { default: "local" })),
  envelopeTimestamp: notBuilt(choice("Put the time on messages.", ["on", "off"], { default: "on" })),
  envelopeElapsed: notBuilt(
    choice("Put the time since the last message on messages.", ["on", "off"], { default: "on" }),
  ),
  model: modelChoice("Model that answers."),
  imageModel: modelChoice("Model that looks at pictures when the first one cannot."),
  models: record(
    "Models people may pick, by provider/model, with their settings.",
    closed({
      alias: text("Short name."),
      params: anything("Settings sent with every request, such as temperature or maxTokens."),
      streaming: flag("Stream answers."),
    }),
  ),
  contextTokens: whole("Tokens of context used at most.", { minimum: 1 }),
  cliBackends: notBuilt(record("Command lines that can answer instead of a provider.", cliBackend)),
  thinkingDefault: choice("How much the model thinks.", thinkingLevels, {
    fallback: "low for thinking models, else off",
  }),
  verboseDefault: choice("How much chats see of tool calls.", ["off", "on", "full"], { default: "off" }),
  elevatedDefault: choice("Elevated level a session starts with.", ["off", "on", "ask", "full"], {
    fallback: "none, so that only calls that ask for it are elevated",
  }),
  timeoutSeconds: whole("Seconds a run may take.", { default: 600, minimum: 1 }),
  mediaMaxMb: notBuilt(number("Megabytes of media taken in and sent out.", { default: 5, minimum: 0 })),
  maxConcurrent: whole("Runs at the same time.", { default: 4, minimum: 1 }),
  budget,
  blockStreamingDefault: notBuilt(choice("Send finished parts of a reply at once.", ["on", "off"], { default: "off" })),
  blockStreamingBreak: notBuilt(
    choice("What counts as finished.", ["text_end", "message_end"], { default: "text_end" }),
  ),
  blockStreamingChunk: notBuilt(
    section("Size of the parts.", {
      minChars: whole("Not shorter than this.", { default: 800 }),
      maxChars: whole("Not longer than this.", { default: 1200 }),
      breakPreference: chunkBreak,
    }),
  ),
  blockStreamingCoalesce: notBuilt(
    section("Joining of small parts.", {
      minChars: whole("Wait for so many characters."),
      maxChars: whole("Send at so many characters."),
      idleMs: whole("Send after so many milliseconds of quiet.", { default: 1000 }),
    }),
  ),
  humanDelay,
  typingMode: notBuilt(choice("When the typing sign shows.", ["never", "instant", "thinking", "message"])),
  typingIntervalSeconds: notBuilt(number("Seconds between renewals of the typing sign.", { default: 6, minimum: 1 })),
  heartbeat: section("Regular turns in which the agent looks after things.", heartbeatProperties),
  subagents: section("Sub-agents an agent starts.", {
    model: modelChoice("Model they use."),
    thinking: text("How much they think."),
    maxConcurrent: whole("How many at the same time.", { default: 8, minimum: 1 }),
    maxChildren: whole("How many one session may have at work or waiting.", { default: 200, minimum: 1 }),
    archiveAfterMinutes: number("Minutes after which a finished one is put away; 0 never.", {
      default: 60,
      minimum: 0,
    }),
  }),
  compaction: section("Summing up long sessions.", {
    mode: choice("How.", ["default", "safeguard"], { default: "default" }),
    reserveTokensFloor: whole("Tokens kept free.", { default: 20_000 }),
    maxHistoryShare: notBuilt(number("Share of the context the old part may take.", { minimum: 0, maximum: 1 })),
    memoryFlush: section("A silent turn before it, to write down what lasts.", {
      enabled: flag("Do it.", { default: true }),
      softThresholdTokens: whole("Tokens before the limit at which it happens.", { default: 4000 }),
      prompt: text("What the agent is asked."),
      systemPrompt: text("What is added to the system prompt."),
    }),
  }),
  contextPruning,
  memorySearch,
  sandbox,
  tools: defaultAgentTools,
});

const agent = overriding(
  closed({
    id: Type.String({ minLength: 1, description: "Its id: letters, digits, - and _." }),
    default: flag("It answers when no binding says otherwise."),
    name: text("Name shown to people."),
    workspace: text("Folder it works in.", { fallback: "~/.openclaw/workspace-<id>" }),
    agentDir: text("Folder of its own state; never shared.", {
      fallback: "<state>/agents/<id>/agent",
      place: "hidden",
    }),
    model: modelChoice("Model it uses; a plain name keeps the shared fall-backs."),
    skills: texts("Skills it may use; unset means all, empty none."),
    identity,
    groupChat: group("How it behaves in groups.", {
      mentionPatterns: texts("Patterns that count as a mention."),
      historyLimit: whole("Messages of context it gets."),
    }),
    heartbeat: group("Its heartbeat.", heartbeatProperties),
    budget,
    humanDelay,
    sandbox: agentSandbox,
    memorySearch: agentMemorySearch,
    subagents: group("Sub-agents it starts.", {
      allowAgents: texts("Agents it may start; * means any."),
      model: modelChoice("Model they use."),
      thinking: text("How much they think."),
    }),
    tools: agentTools,
  }),
);

export const agents = section("The agents and what they share.", {
  defaults,
  list: list("The agents; without it there is one, called main.", agent),
});
