// `hooks`: webhooks over HTTP, and scripts that run on events of the gateway.
import { Type } from "../../core/schema.ts";
import { choice, closed, flag, group, list, notBuilt, record, secret, section, text, texts, whole } from "./field.ts";

const mapping = closed({
  id: text("Name of the mapping."),
  match: group("Which webhooks the mapping applies to.", {
    path: text("Path below hooks.path."),
    source: text("Value of source in the payload."),
  }),
  action: choice("wake posts to the main session, agent runs an agent.", ["wake", "agent"]),
  wakeMode: choice("When the main session receives it.", ["now", "next-heartbeat"]),
  name: text("Display name."),
  agentId: text("Agent to run."),
  sessionKey: text("Session to run in; {{…}} inserts a value of the payload."),
  messageTemplate: text("Message to the agent; {{…}} inserts a value of the payload."),
  textTemplate: text("Text for the main session; {{…}} inserts a value of the payload."),
  deliver: flag("Sends the reply to a chat."),
  channel: text("Channel to send the reply on."),
  to: text("Recipient on that channel."),
  model: text("Model to use."),
  thinking: text("Thinking level."),
  timeoutSeconds: whole("Maximum duration in seconds."),
  transform: group("A script that converts the payload into an action.", {
    module: text("Script file below transformsDir."),
    export: text("Name of the exported function."),
  }),
  allowUnsafeExternalContent: flag("Passes the text without the marks for untrusted content. Dangerous."),
});

const gmail = group("Mail through Gmail notifications.", {
  account: notBuilt(text("Mail account.")),
  label: notBuilt(text("Label to watch.")),
  topic: notBuilt(text("Pub/Sub topic.")),
  subscription: notBuilt(text("Pub/Sub subscription.")),
  pushToken: notBuilt(secret("Secret that notifications must contain.")),
  hookUrl: notBuilt(text("URL that notifications are forwarded to.")),
  includeBody: notBuilt(flag("Includes the text of mails.")),
  maxBytes: notBuilt(whole("Maximum number of bytes to forward.")),
  renewEveryMinutes: notBuilt(whole("Minutes between renewals of the watch.", { minimum: 1 })),
  serve: notBuilt(
    group("The local webhook server.", {
      bind: text("Address that it listens on."),
      port: whole("Port that it listens on.", { maximum: 65_535 }),
      path: text("URL path that it serves."),
    }),
  ),
  tailscale: notBuilt(
    group("Access through Tailscale.", {
      mode: choice("How it is published.", ["off", "serve", "funnel"]),
      path: text("Public path."),
      target: text("Target of the public path."),
    }),
  ),
  model: text("Model that processes mail."),
  thinking: text("Thinking level."),
  allowUnsafeExternalContent: flag("Passes mail without the marks for untrusted content. Dangerous."),
});

const internal = group("Scripts that run on events of the gateway.", {
  enabled: flag("Runs hooks.", { fallback: "off" }),
  entries: record(
    "Settings of each hook.",
    Type.Object(
      {
        enabled: flag("Enables this hook."),
        env: record("Environment variables of the hook.", Type.String()),
        pin: text(
          "Digest of the hook's files when it was enabled. A hook in a workspace runs only while its files have this digest.",
        ),
      },
      { additionalProperties: Type.Unknown() },
    ),
  ),
  load: group("Where hooks are searched.", { extraDirs: texts("Additional folders.", { place: "kept" }) }),
  installs: record("Hooks installed from packages.", Type.Record(Type.String(), Type.Unknown())),
  handlers: list(
    "Legacy form with single functions; ignored.",
    closed({ event: text("Event."), module: text("File."), export: text("Name of the exported function.") }),
  ),
});

export const hooks = section("Webhooks over HTTP, and hooks that run on events of the gateway.", {
  enabled: flag("Accepts webhooks.", { default: false }),
  path: text("URL path of webhooks.", { default: "/hooks", pattern: "^/" }),
  token: secret("Token that webhooks must send; it must differ from the gateway's own secret."),
  maxBodyBytes: whole("Maximum size of a webhook in bytes.", { default: 262_144, minimum: 1 }),
  allowRequestSessionKey: flag("Allows senders to choose a session whose key starts with hook:.", { fallback: "off" }),
  allowedAgentIds: texts("Agents that webhooks may run; * allows all.", {
    fallback: "the default agent, and what mappings name",
  }),
  signing: group("Every webhook must be signed and recent.", {
    secret: secret("Key of the HMAC-SHA256 over timestamp, dot and body."),
    toleranceSeconds: whole("Maximum age of a signature.", { fallback: "300", minimum: 1 }),
  }),
  presets: texts("Ready-made rules, such as gmail."),
  transformsDir: text("Folder of transform scripts, below the folder of the config.", {
    fallback: "hooks/transforms beside the config",
  }),
  mappings: list("Rules; the first match is used.", mapping),
  gmail,
  internal,
});
