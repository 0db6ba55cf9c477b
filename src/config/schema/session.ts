// `session`: how conversations map to sessions and when sessions reset.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, notBuilt, number, record, section, sendRules, text, texts, whole } from "./field.ts";

const reset = closed({
  mode: choice("daily resets at a fixed hour, idle after a pause.", ["daily", "idle"], { fallback: "daily" }),
  atHour: whole("Hour of the daily reset, in the host's time zone.", { maximum: 23, fallback: "4" }),
  idleMinutes: number("Minutes without messages before an idle reset.", { minimum: 0 }),
});

const resetFor = (what: string) => group(`Reset of ${what}.`, reset.properties);

export const session = section("How conversations map to sessions and when sessions reset.", {
  scope: choice("per-sender gives each sender a session, global uses one session for all.", ["per-sender", "global"], {
    default: "per-sender",
  }),
  dmScope: notBuilt(
    choice(
      "Which direct chats share a session.",
      ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"],
      {
        default: "main",
      },
    ),
  ),
  identityLinks: notBuilt(
    record("People with several ids: maps a name to a list of channel:id entries.", Type.Array(Type.String())),
  ),
  reset: resetFor("every session"),
  resetByType: group("Reset rules by kind of chat.", {
    direct: resetFor("direct chats"),
    dm: resetFor("direct chats, older spelling"),
    group: resetFor("groups"),
    thread: resetFor("threads"),
  }),
  resetByChannel: record("Reset rules by channel.", reset),
  idleMinutes: number("Legacy form of reset.idleMinutes.", { minimum: 0 }),
  heartbeatIdleMinutes: number("Minutes without messages after which a heartbeat resets its session.", { minimum: 0 }),
  resetTriggers: texts("Messages that reset the session.", { default: ["/new", "/reset"] }),
  store: notBuilt(
    text("Session file of an older version.", {
      fallback: "<state>/agents/{agentId}/sessions/sessions.json",
      place: "hidden",
    }),
  ),
  mainKey: text("Name of the main session.", { default: "main", minLength: 1 }),
  typingMode: notBuilt(choice("When the typing indicator is shown.", ["never", "instant", "thinking", "message"])),
  typingIntervalSeconds: notBuilt(number("Seconds between renewals of the typing indicator.", { minimum: 1 })),
  agentToAgent: section("Messages between agents.", {
    maxPingPongTurns: whole("Maximum number of replies that two agents exchange.", { default: 5, maximum: 5 }),
  }),
  sendPolicy: sendRules("Rules for where replies may be sent."),
});
