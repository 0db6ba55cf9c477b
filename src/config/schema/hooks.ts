// `hooks`: webhooks from outside, and scripts that run on events inside.
import { Type } from "../../core/schema.ts";
import { choice, closed, flag, group, list, notBuilt, record, secret, section, text, texts, whole } from "./field.ts";

const mapping = closed({
  id: text("Name of the rule."),
  match: group("What it fits.", {
    path: text("Path behind the hooks path."),
    source: text("The source the payload names."),
  }),
  action: choice("Wake the main session or run an agent.", ["wake", "agent"]),
  wakeMode: choice("When the main session hears of it.", ["now", "next-heartbeat"]),
  name: text("Name shown to people."),
  agentId: text("Agent that runs."),
  sessionKey: text("Session it runs in; {{…}} reads the payload."),
  messageTemplate: text("What the agent is told; {{…}} reads the payload."),
  textTemplate: text("What the main session is told; {{…}} reads the payload."),
  deliver: flag("Send the answer to a chat."),
  channel: text("Channel it is sent on."),
  to: text("Recipient on that channel."),
  model: text("Model that answers."),
  thinking: text("How much it thinks."),
  timeoutSeconds: whole("Seconds it may take."),
  transform: group("A script that turns the payload into an action.", {
    module: text("Its file, under transformsDir."),
    export: text("Name of the function."),
  }),
  allowUnsafeExternalContent: flag("Do not mark the text as coming from outside."),
});

const gmail = group("Mail through Gmail's notices.", {
  account: notBuilt(text("Mail account.")),
  label: notBuilt(text("Label watched.")),
  topic: notBuilt(text("Pub/Sub topic.")),
  subscription: notBuilt(text("Pub/Sub subscription.")),
  pushToken: notBuilt(secret("Secret the notices carry.")),
  hookUrl: notBuilt(text("Where notices are passed on to.")),
  includeBody: notBuilt(flag("Pass on the text of mails.")),
  maxBytes: notBuilt(whole("Bytes passed on at most.")),
  renewEveryMinutes: notBuilt(whole("Minutes between renewals of the watch.", { minimum: 1 })),
  serve: notBuilt(
    group("The local end.", {
      bind: text("Address it listens on."),
      port: whole("Port it listens on.", { maximum: 65_535 }),
      path: text("Path it answers."),
    }),
  ),
  tailscale: notBuilt(
    group("Reaching it through Tailscale.", {
      mode: choice("How it is published.", ["off", "serve", "funnel"]),
      path: text("Public path."),
      target: text("What it leads to."),
    }),
  ),
  model: text("Model that reads mail."),
  thinking: text("How much it thinks."),
  allowUnsafeExternalContent: flag("Do not mark mail as coming from outside."),
});

const internal = group("Scripts that run on events inside.", {
  enabled: flag("Run them.", { fallback: "off" }),
  entries: record(
    "Settings per script.",
    Type.Object(
      {
        enabled: flag("Run this one."),
        env: record("Its environment.", Type.String()),
        pin: text("Digest of the script as it was enabled; one in a workspace runs only while it is the same."),
      },
      { additionalProperties: Type.Unknown() },
    ),
  ),
  load: group("Where they are looked for.", { extraDirs: texts("Further folders.", { place: "kept" }) }),
  installs: record("What was installed from packages.", Type.Record(Type.String(), Type.Unknown())),
  handlers: list(
    "Older form: single functions.",
    closed({ event: text("Event."), module: text("File."), export: text("Name of the function.") }),
  ),
});

export const hooks = section("Webhooks from outside and scripts on events inside.", {
  enabled: flag("Accept webhooks.", { default: false }),
  path: text("Path they arrive on.", { default: "/hooks", pattern: "^/" }),
  token: secret("Secret they must carry; not the gateway's own."),
  maxBodyBytes: whole("Bytes of a webhook at most.", { default: 262_144, minimum: 1 }),
  allowRequestSessionKey: flag("Let senders name the session, below hook: only.", { fallback: "off" }),
  allowedAgentIds: texts("Agents webhooks may run; * means any.", {
    fallback: "the default agent, and what mappings name",
  }),
  signing: group("Every webhook must be signed and recent.", {
    secret: secret("Key of the HMAC-SHA256 over timestamp, dot and body."),
    toleranceSeconds: whole("How old a signature may be.", { fallback: "300", minimum: 1 }),
  }),
  presets: texts("Ready-made rules, such as gmail."),
  transformsDir: text("Folder of transform scripts, below the folder of the config.", {
    fallback: "hooks/transforms beside the config",
  }),
  mappings: list("Rules; the first that fits is used.", mapping),
  gmail,
  internal,
});
