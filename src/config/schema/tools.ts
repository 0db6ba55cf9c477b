// `tools`: which tools exist for the model and how each behaves.
import { Type } from "../../core/schema.ts";
import {
  choice,
  closed,
  flag,
  group,
  list,
  notBuilt,
  number,
  overriding,
  record,
  secret,
  section,
  sendRules,
  text,
  texts,
  whole,
} from "./field.ts";

const profile = choice("Named base list of tools.", ["minimal", "coding", "messaging", "full"]);

const allow = texts("Tools or groups that are allowed; all others are removed. Cannot be combined with alsoAllow.");
const alsoAllow = texts("Tools or groups that are added to the profile. Cannot be combined with allow.");
const deny = texts("Tools or groups that are removed even when another rule allows them.");

/** One list layer as it appears in chat groups and per sender. */
export const toolLists = closed({ allow, alsoAllow, deny });

const byProvider = record(
  "Tool lists for a provider or provider/model; only the most specific key applies.",
  closed({ profile, allow, alsoAllow, deny }),
);

const allowDeny = { allow, deny };

const execProperties = {
  host: choice("Where commands run.", ["sandbox", "gateway", "node"], { default: "sandbox" }),
  security: choice("Which commands may run: none, those on the allowlist, or all.", ["deny", "allowlist", "full"], {
    fallback: "deny on the sandbox host, allowlist on gateway and node",
  }),
  ask: choice("When the owner is asked for approval.", ["off", "on-miss", "always"], { default: "on-miss" }),
  node: text("Node that runs commands when host is node; by default any suitable node."),
  backgroundMs: whole("Milliseconds to wait before a command continues in the background.", {
    default: 10_000,
  }),
  timeoutSec: number("Seconds after which a command is terminated.", { default: 1800, minimum: 0 }),
  cleanupMs: whole("Milliseconds for which a finished command stays listed, between one minute and three hours.", {
    default: 1_800_000,
  }),
  notifyOnExit: flag("Notifies the session when a background command ends.", { default: true }),
  approvalRunningNoticeMs: whole(
    "Milliseconds after which the session is notified that an approved command is still running; 0 never notifies.",
    {
      default: 10_000,
    },
  ),
  pathPrepend: texts("Folders to put in front of PATH.", { default: [] }),
  safeBins: texts(
    "Text filters that need no approval when they only read standard input. Replaces the built-in list; grep, jq and sort can be added, other names have no effect.",
    {
      fallback: "cut, uniq, head, tail, tr, wc",
    },
  ),
  applyPatch: section("The apply_patch tool.", {
    enabled: flag("Enables apply_patch.", { default: false }),
    allowModels: texts("Models that may use it; by default all."),
  }),
};

const elevated = section("Elevated runs: listed senders may leave the sandbox.", {
  enabled: flag("Enables elevated runs.", { default: true }),
  allowFrom: record("Senders who may use it, per channel.", Type.Array(Type.Union([Type.String(), Type.Number()]))),
});

const fs = section("Limits of the file tools.", {
  workspaceOnly: flag("Restricts read, write, edit, apply_patch and image paths to the workspace.", { default: false }),
});

const sandbox = group("Rules for sandboxed sessions.", {
  tools: group("Tool lists that apply only to sandboxed sessions.", allowDeny),
});

const message = notBuilt(
  group("The message tool.", {
    crossContext: group("Whether a chat may make the agent write to another chat.", {
      allowWithinProvider: flag("To another conversation of the same channel.", { default: false }),
      allowAcrossProviders: flag("To a conversation of another channel.", { default: false }),
      marker: group("A prefix that shows where such a message came from.", {
        enabled: flag("Put the prefix in front.", { default: true }),
        prefix: text("Text of the prefix; {channel} is replaced.", { default: "[from {channel}] " }),
      }),
    }),
  }),
);

const search = section("The web_search tool.", {
  enabled: flag("Offer web_search.", { default: true }),
  provider: choice("Search service.", ["brave", "perplexity", "grok"], { fallback: "brave" }),
  apiKey: secret("Key of the search service; else BRAVE_API_KEY from the environment."),
  maxResults: whole("Results per search.", { default: 5, minimum: 1, maximum: 10 }),
  timeoutSeconds: number("Seconds to wait for an answer.", { default: 30, minimum: 0 }),
  cacheTtlMinutes: number("Minutes an answer is kept; 0 keeps none.", { default: 15, minimum: 0 }),
  baseUrl: text("Root of the search service, for a proxy or a stand-in."),
  perplexity: group("Settings of Perplexity.", {
    apiKey: secret("Key; else PERPLEXITY_API_KEY or OPENROUTER_API_KEY."),
    baseUrl: text("Root of the service.", { fallback: "chosen by the kind of key" }),
    model: text("Model that answers.", { default: "perplexity/sonar-pro" }),
  }),
  grok: group("Settings of Grok.", {
    apiKey: secret("Key; else XAI_API_KEY."),
    baseUrl: text("Root of the service."),
    model: text("Model that answers."),
    inlineCitations: flag("Keep citations in the text."),
  }),
});

const fetch = section("The web_fetch tool.", {
  enabled: flag("Offer web_fetch.", { default: true }),
  maxChars: whole("Characters returned when the call does not say.", { default: 50_000, minimum: 100 }),
  maxCharsCap: whole("Characters returned at most, whatever the call says.", { default: 50_000, minimum: 100 }),
  timeoutSeconds: number("Seconds to wait for a page.", { default: 30, minimum: 0 }),
  cacheTtlMinutes: number("Minutes a page is kept; 0 keeps none.", { default: 15, minimum: 0 }),
  maxRedirects: whole("Redirects followed.", { default: 3, maximum: 20 }),
  userAgent: text("User-Agent header sent."),
  readability: flag("Reduce a page to its article; false only strips the markup.", { default: true }),
  firecrawl: group("Firecrawl as a second try.", {
    enabled: flag("Use Firecrawl.", { fallback: "on when a key exists" }),
    apiKey: secret("Key; else FIRECRAWL_API_KEY."),
    baseUrl: text("Root of the service.", { default: "https://api.firecrawl.dev" }),
    onlyMainContent: flag("Ask for the main content only.", { default: true }),
    maxAgeMs: whole("Milliseconds a copy on their side may be old.", { default: 172_800_000 }),
    timeoutSeconds: number("Seconds to wait.", { default: 60, minimum: 0 }),
  }),
});

const mediaModel = closed({
  type: choice("What answers: a provider or a command line.", ["provider", "cli"], { default: "provider" }),
  provider: text("Model provider."),
  model: text("Model of that provider."),
  capabilities: list("Kinds of media it understands.", Type.Enum(["image", "audio", "video"], { type: "string" })),
  profile: text("Auth profile it must use."),
  preferredProfile: text("Auth profile it tries first."),
  command: text("Program to run for type cli."),
  args: texts("Arguments; {{MediaPath}}, {{Prompt}} and the like are replaced."),
  prompt: text("Prompt sent along."),
  language: text("Language spoken in the recording."),
  maxChars: whole("Characters kept of the answer."),
  maxBytes: whole("Bytes sent at most."),
  timeoutSeconds: number("Seconds to wait.", { minimum: 0 }),
  baseUrl: text("Root of the service, instead of the provider's."),
  headers: record("Further request headers.", Type.String()),
});

const mediaKind = (name: string, maxBytes: number, timeoutSeconds: number, maxChars?: number) =>
  section(`How inbound ${name} is understood.`, {
    enabled: flag(`Understand ${name}.`, { fallback: "on when a model for it is found" }),
    maxBytes: whole("Bytes looked at.", { default: maxBytes }),
    maxChars: whole("Characters kept of the description.", maxChars === undefined ? {} : { default: maxChars }),
    timeoutSeconds: number("Seconds to wait.", { default: timeoutSeconds, minimum: 0 }),
    prompt: text("Prompt sent along."),
    language: text("Language spoken in the recording."),
    attachments: group("Which attachments of a message are looked at.", {
      mode: choice("The first one or all.", ["first", "all"], { default: "first" }),
      maxAttachments: whole("How many at most.", { default: 1 }),
      prefer: choice("Which to take when there are more.", ["first", "last", "path", "url"]),
    }),
    scope: sendRules("Where it applies."),
    models: list("Models tried in order.", mediaModel),
    baseUrl: text("Root of the service, instead of the provider's."),
    headers: record("Further request headers.", Type.String()),
  });

const media = notBuilt(
  section("Understanding of pictures, sound and film people send.", {
    models: list("Models tried for every kind.", mediaModel),
    concurrency: whole("Attachments looked at in parallel.", { default: 2, minimum: 1 }),
    image: mediaKind("pictures", 10_485_760, 60, 500),
    audio: mediaKind("sound", 20_971_520, 60),
    video: mediaKind("film", 52_428_800, 120, 500),
  }),
);

export const tools = section("Which tools an agent may use, and their settings.", {
  profile,
  allow,
  alsoAllow,
  deny,
  byProvider,
  fs,
  exec: section("The exec tool.", execProperties),
  elevated,
  sandbox,
  subagents: group("Rules for subagents.", {
    tools: group("Tool lists of subagents; deny adds to the built-in list.", allowDeny),
  }),
  agentToAgent: section("Messages between agents.", {
    enabled: flag("Allows agents to read and write each other's sessions.", { default: false }),
    allow: texts("Agents that take part; by default all."),
  }),
  message,
  web: notBuilt(section("Web tools.", { search, fetch })),
  media,
});

/** The part of `tools` an agent may set for itself. */
export const agentTools = overriding(
  group("Tool rules of this agent.", {
    profile,
    allow,
    alsoAllow,
    deny,
    byProvider,
    fs,
    exec: group("The exec tool for this agent.", execProperties),
    elevated,
    sandbox,
    message,
  }),
);

/** `agents.defaults.tools` holds only this one key. */
export const defaultAgentTools = overriding(group("Tool rules shared by all agents.", { message }));

/** `tools` and `toolsBySender` as groups and rooms carry them. */
export const groupToolRules = {
  tools: Type.Optional(
    Type.Object(toolLists.properties, { additionalProperties: false, description: "Tool lists of this chat." }),
  ),
  toolsBySender: record("Tool lists per sender, instead of the lists above; * means all other senders.", toolLists),
};
