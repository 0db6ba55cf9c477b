// `approvals`: where requests for approval are also shown.
import { choice, closed, flag, list, notBuilt, section, text, texts } from "./field.ts";

export const approvals = notBuilt(
  section("Where requests for approval are also shown.", {
    exec: section("Approvals of commands.", {
      enabled: flag("Forward requests to chats.", { default: false }),
      mode: choice("To the chat that caused it, to fixed targets, or both.", ["session", "targets", "both"], {
        default: "session",
      }),
      agentFilter: texts("Only for these agents; empty means all."),
      sessionFilter: texts("Only for sessions whose key contains or matches one of these; empty means all."),
      targets: list(
        "Fixed targets.",
        closed({
          channel: text("Channel id."),
          to: text("Recipient on that channel."),
          accountId: text("Account that sends."),
          threadId: text("Thread to write to."),
        }),
      ),
    }),
  }),
);
