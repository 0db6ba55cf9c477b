// `commands`: slash commands in chats.
import { Type } from "../../core/schema.ts";
import { flag, ids, notBuilt, oneOf, section, whole } from "./field.ts";

export const onOffAuto = (description: string, facts: { default?: unknown } = {}) =>
  oneOf(description, [Type.Boolean(), Type.Enum(["auto"], { type: "string" })], facts);

export const commands = section("Slash commands in chats.", {
  native: notBuilt(onOffAuto("Register commands with platforms that have menus for them.", { default: "auto" })),
  nativeSkills: notBuilt(onOffAuto("Register skills there too.", { default: "auto" })),
  text: flag("Understand commands typed as text.", { default: true }),
  bash: flag("Let you run shell commands with ! and /bash.", { default: false }),
  bashForegroundMs: whole("Milliseconds such a command is waited for; 0 none.", { default: 2000 }),
  config: flag("Let you change this file with /config.", { default: false }),
  debug: flag("Let you change settings for the moment with /debug.", { default: false }),
  restart: flag("Let you, the agent and SIGUSR1 restart the gateway.", { default: false }),
  useAccessGroups: flag("Commands obey the same allow lists as messages.", { default: true }),
  ownerAllowFrom: ids("People who count as owner on every channel."),
});
