// `session`: how conversations map to sessions and when these begin anew.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, notBuilt, number, record, section, sendRules, text, texts, whole } from "./field.ts";

const reset = closed({
  mode: choice("Every day, or after a pause.", ["daily", "idle"], { fallback: "daily" }),
  atHour: whole("Hour of the day, by the host's clock.", { maximum: 23, fallback: "4" }),
  idleMinutes: number("Minutes of pause.", { minimum: 0 }),
});

const resetFor = (what: string) => group(`Reset of ${what}.`, reset.properties);

export const session = section("How conversations map to sessions and when these begin anew.", {
  scope: choice("One session per sender, or one for all.", ["per-sender", "global"], { default: "per-sender" }),
  dmScope: notBuilt(
    choice("What direct chats share.", ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"], {
      default: "main",
    }),
  ),
  identityLinks: notBuilt(
    record("People known under several ids: name to channel:id list.", Type.Array(Type.String())),
  ),
  reset: resetFor("every session"),
  resetByType: group("Reset by kind of chat.", {
    direct: resetFor("direct chats"),
    dm: resetFor("direct chats, older spelling"),
    group: resetFor("groups"),
    thread: resetFor("threads"),
  }),
  resetByChannel: record("Reset by channel.", reset),
  idleMinutes: number("Older form of reset.idleMinutes.", { minimum: 0 }),
  heartbeatIdleMinutes: number("Minutes of pause after which heartbeats begin anew.", { minimum: 0 }),
  resetTriggers: texts("Messages that begin anew.", { default: ["/new", "/reset"] }),
  store: notBuilt(
    text("Older session file to take over from.", {
      fallback: "<state>/agents/{agentId}/sessions/sessions.json",
      place: "hidden",
    }),
  ),
  mainKey: text("Name of the main session.", { default: "main", minLength: 1 }),
  typingMode: notBuilt(choice("When the typing sign shows.", ["never", "instant", "thinking", "message"])),
  typingIntervalSeconds: notBuilt(number("Seconds between renewals of the typing sign.", { minimum: 1 })),
  agentToAgent: section("Talk between agents.", {
    maxPingPongTurns: whole("Answers back and forth at most.", { default: 5, maximum: 5 }),
  }),
  sendPolicy: sendRules("Where replies may be sent."),
});
