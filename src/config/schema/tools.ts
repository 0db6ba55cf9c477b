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
        enabled: flag("Adds the prefix.", { default: true }),
        prefix: text("Text of the prefix; {channel} is replaced.", { default: "[from {channel}] " }),
      }),
    }),
  }),
);

/** A name, `*.name`, address or network, with an optional port; IPv6 with a port is in brackets. */
const hostEntry =
  "^(?:(?:\\*\\.)?[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*\\.?(?:/\\d{1,2})?(?::\\d{1,5})?|\\[[0-9A-Fa-f:.]+\\](?::\\d{1,5})?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:/\\d{1,3})?)$";

const searchProviders = ["brave", "perplexity", "searxng", "duckduckgo", "grok"] as const;

const search = section("The web_search tool.", {
  enabled: flag("Enables web_search.", { default: true }),
  provider: choice("Search service; searxng and duckduckgo need no key, grok is not built yet.", searchProviders, {
    fallback: "brave",
  }),
  apiKey: secret("API key of Brave Search. By default BRAVE_API_KEY from the environment."),
  maxResults: whole("Number of results per search.", { default: 5, minimum: 1, maximum: 10 }),
  timeoutSeconds: number("Seconds to wait for a response.", { default: 30, minimum: 0 }),
  cacheTtlMinutes: number("Minutes to cache a result; 0 caches none.", { default: 15, minimum: 0 }),
  baseUrl: text("Base URL of Brave or DuckDuckGo, for a proxy."),
  perplexity: group("Settings of Perplexity.", {
    apiKey: secret("API key. By default PERPLEXITY_API_KEY or OPENROUTER_API_KEY from the environment."),
    baseUrl: text("Base URL of the service.", { fallback: "chosen by the kind of key" }),
    model: text("Model that answers.", { default: "perplexity/sonar-pro" }),
  }),
  searxng: group("Settings of SearXNG.", {
    baseUrl: text("Base URL of your instance, such as http://127.0.0.1:8888. Its JSON format must be on."),
  }),
  grok: notBuilt(
    group("Settings of Grok.", {
      apiKey: secret("API key. By default XAI_API_KEY from the environment."),
      baseUrl: text("Base URL of the service."),
      model: text("Model that answers."),
      inlineCitations: flag("Keeps citations in the text."),
    }),
  ),
});

const fetch = section("The web_fetch tool.", {
  enabled: flag("Enables web_fetch.", { default: true }),
  maxChars: whole("Default number of characters to return.", { default: 50_000, minimum: 100 }),
  maxCharsCap: whole("Maximum number of characters to return.", { default: 50_000, minimum: 100 }),
  timeoutSeconds: number("Seconds to wait for a page.", { default: 30, minimum: 0 }),
  cacheTtlMinutes: number("Minutes to cache a page; 0 caches none.", { default: 15, minimum: 0 }),
  maxRedirects: whole("Maximum number of redirects to follow.", { default: 3, maximum: 20 }),
  userAgent: text("User-Agent header to send.", { fallback: "that of a desktop browser" }),
  readability: flag("Reduces a page to its article; false only strips the markup.", { default: true }),
  firecrawl: group("Firecrawl as a second attempt.", {
    enabled: flag("Enables Firecrawl.", { fallback: "on when a key exists" }),
    apiKey: secret("API key. By default FIRECRAWL_API_KEY from the environment."),
    baseUrl: text("Base URL of the service.", { default: "https://api.firecrawl.dev" }),
    onlyMainContent: flag("Requests the main content only.", { default: true }),
    maxAgeMs: whole("Maximum age of a cached copy in milliseconds.", { default: 172_800_000 }),
    timeoutSeconds: number("Seconds to wait.", { default: 60, minimum: 0 }),
  }),
});

const mediaModel = closed({
  type: choice("A model provider or a command line.", ["provider", "cli"], { default: "provider" }),
  provider: text("Model provider."),
  model: text("Model of that provider."),
  capabilities: list("Kinds of media that it understands.", Type.Enum(["image", "audio", "video"], { type: "string" })),
  profile: text("Auth profile that it must use."),
  preferredProfile: text("Auth profile that it tries first."),
  command: text("Program to run for type cli."),
  args: texts(
    "Arguments, passed without a shell; {{MediaPath}}, {{MediaDir}}, {{MediaType}}, {{Prompt}}, {{MaxChars}}, {{OutputDir}} and {{OutputBase}} are replaced.",
  ),
  prompt: text("Prompt for the model."),
  language: text("Language of the recording, or of the text in an image."),
  maxChars: whole("Maximum number of characters to keep."),
  maxBytes: whole("Maximum number of bytes to send."),
  timeoutSeconds: number("Seconds to wait.", { minimum: 0 }),
  baseUrl: text("Base URL of the service, instead of the provider's."),
  headers: record("Additional request headers.", Type.String()),
});

interface MediaKind {
  readonly name: string;
  readonly maxBytes: number;
  readonly timeoutSeconds: number;
  /** What the model returns. */
  readonly result: "description" | "transcript";
  readonly maxChars?: number;
}

const mediaKind = ({ name, maxBytes, timeoutSeconds, result, maxChars }: MediaKind) =>
  section(`Understanding of received ${name}.`, {
    enabled: flag(
      `Enables understanding of ${name}; true without models tries the well-known providers that have a key.`,
      {
        fallback: "on when models are listed",
      },
    ),
    maxBytes: whole("Maximum number of bytes to process.", { default: maxBytes }),
    maxChars: whole(
      `Maximum number of characters of the ${result}.`,
      maxChars === undefined ? {} : { default: maxChars },
    ),
    timeoutSeconds: number("Seconds to wait.", { default: timeoutSeconds, minimum: 0 }),
    prompt: text("Prompt for the model."),
    language: text(name === "images" ? "Language of the text in the image." : "Language of the recording."),
    attachments: group("Which attachments of a message are processed.", {
      mode: choice("The first one or all.", ["first", "all"], { default: "first" }),
      maxAttachments: whole("Maximum number of attachments.", { default: 1 }),
      prefer: choice("Which ones to prefer when there are more.", ["first", "last", "path", "url"]),
    }),
    scope: sendRules("Where it applies.", "Rules; the first one that matches decides."),
    models: list("Models to try in order.", mediaModel),
    baseUrl: text("Base URL of the service, instead of the provider's."),
    headers: record("Additional request headers.", Type.String()),
  });

const media = section("Understanding of received images, audio and video.", {
  models: list("Models to try for every kind that they understand, after those of the kind.", mediaModel),
  concurrency: whole("Attachments processed in parallel.", { default: 2, minimum: 1 }),
  image: mediaKind({
    name: "images",
    maxBytes: 10_485_760,
    timeoutSeconds: 60,
    result: "description",
    maxChars: 500,
  }),
  audio: mediaKind({ name: "audio", maxBytes: 20_971_520, timeoutSeconds: 60, result: "transcript" }),
  video: mediaKind({
    name: "video",
    maxBytes: 52_428_800,
    timeoutSeconds: 120,
    result: "description",
    maxChars: 500,
  }),
});

const browser = group("The browser tool.", {
  profiles: texts("Browser profiles that agents may use; by default all."),
});

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
  web: section("Web tools, and the guard for every request that an agent can steer.", {
    allowPrivateHosts: list(
      "Private hosts that agents may reach: names, *.names, addresses or networks, each with an optional port (nas.local:8080, 192.168.1.0/24).",
      Type.String({ pattern: hostEntry }),
    ),
    search,
    fetch,
  }),
  browser,
  media,
});

/** The part of `tools` that an agent may override. */
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
    browser,
  }),
);

/** `agents.defaults.tools` has only this key. */
export const defaultAgentTools = overriding(group("Tool rules shared by all agents.", { message }));

/** `tools` and `toolsBySender` of groups and rooms. */
export const groupToolRules = {
  tools: Type.Optional(
    Type.Object(toolLists.properties, { additionalProperties: false, description: "Tool lists of this chat." }),
  ),
  toolsBySender: record("Tool lists per sender, instead of the lists above; * means all other senders.", toolLists),
};
