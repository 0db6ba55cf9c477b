// `channels`: the chat platforms. Plugins may bring further ones.
import { bluebubbles } from "./channels/bluebubbles.ts";
import { heartbeatVisibility } from "./channels/chat-keys.ts";
import { discord } from "./channels/discord.ts";
import { googlechat } from "./channels/googlechat.ts";
import { imessage } from "./channels/imessage.ts";
import { msteams } from "./channels/msteams.ts";
import { signal } from "./channels/signal.ts";
import { slack } from "./channels/slack.ts";
import { telegram } from "./channels/telegram.ts";
import { whatsapp } from "./channels/whatsapp.ts";
import { choice, notBuilt, section } from "./field.ts";

export const channels = notBuilt(
  section("The chat platforms.", {
    defaults: section("Defaults of all channels.", {
      groupPolicy: choice("Which groups may use the agent.", ["allowlist", "open", "disabled"], {
        default: "allowlist",
      }),
      heartbeat: heartbeatVisibility,
    }),
    whatsapp,
    telegram,
    discord,
    slack,
    googlechat,
    signal,
    imessage,
    bluebubbles,
    msteams,
  }),
);
