// `channels.msteams`.
import { choice, closed, flag, record, secret, section, text, texts, whole } from "../field.ts";
import { channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

const replyStyle = (facts = {}) => choice("Replies in the thread or at the top level.", ["thread", "top-level"], facts);

const place = { ...placeKeys, replyStyle: replyStyle() };

export const msteams = channel("Microsoft Teams.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 100 }),
  ...flatDmKeys("object ids, sign-in names or names"),
  appId: text("Id of the bot. By default MSTEAMS_APP_ID from the environment."),
  appPassword: secret("Secret of the bot. By default MSTEAMS_APP_PASSWORD from the environment."),
  tenantId: text("Tenant. By default MSTEAMS_TENANT_ID from the environment."),
  webhook: section("Endpoint that receives activities.", {
    port: whole("Port.", { default: 3978, minimum: 1, maximum: 65_535 }),
    path: text("Path.", { default: "/api/messages" }),
  }),
  authRoot: text("Base URL of the sign-in service, for tests."),
  graphRoot: text("Base URL of Microsoft Graph, for tests."),
  jwksUri: text("URL of the signing keys, for tests."),
  requireMention: flag("Replies in channels only when mentioned.", { default: true }),
  replyStyle: replyStyle({ default: "thread" }),
  teams: record(
    "Teams by id or name; * means all other teams.",
    closed({ ...place, channels: record("Channels by id or name; * means all other channels.", closed(place)) }),
  ),
  mediaAllowHosts: texts("Hosts that media is downloaded from.", { fallback: "hosts of Microsoft" }),
  mediaAuthAllowHosts: texts("Hosts that receive our credentials for downloads.", {
    fallback: "Graph and Bot Framework",
  }),
  sharePointSiteId: text("Site that files for channels are uploaded to."),
});
