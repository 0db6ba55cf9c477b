// `channels.msteams`.
import { choice, closed, flag, record, secret, section, text, texts, whole } from "../field.ts";
import { channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

const replyStyle = (facts = {}) => choice("Answer in the thread or at the top.", ["thread", "top-level"], facts);

const place = { ...placeKeys, replyStyle: replyStyle() };

export const msteams = channel("Microsoft Teams.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 100 }),
  ...flatDmKeys("object ids, sign-in names or names"),
  appId: text("Id of the bot; else MSTEAMS_APP_ID."),
  appPassword: secret("Its secret; else MSTEAMS_APP_PASSWORD."),
  tenantId: text("Tenant; else MSTEAMS_TENANT_ID."),
  webhook: section("Where activities arrive.", {
    port: whole("Port.", { default: 3978, minimum: 1, maximum: 65_535 }),
    path: text("Path.", { default: "/api/messages" }),
  }),
  authRoot: text("Root of the sign-in service, for a stand-in."),
  graphRoot: text("Root of Microsoft Graph, for a stand-in."),
  jwksUri: text("Address of the signing keys, for a stand-in."),
  requireMention: flag("Answer in channels only when mentioned.", { default: true }),
  replyStyle: replyStyle({ default: "thread" }),
  teams: record(
    "Teams by id or name; * means the others.",
    closed({ ...place, channels: record("Channels by id or name; * means the others.", closed(place)) }),
  ),
  mediaAllowHosts: texts("Hosts media is fetched from.", { fallback: "hosts of Microsoft" }),
  mediaAuthAllowHosts: texts("Hosts that get our credentials with it.", { fallback: "Graph and Bot Framework" }),
  sharePointSiteId: text("Site files for channels are put on."),
});
