// `commands`: slash commands in chats.
import { Type } from "../../core/schema.ts";
import { flag, ids, notBuilt, oneOf, section, whole } from "./field.ts";

export const onOffAuto = (description: string, facts: { default?: unknown } = {}) =>
  oneOf(description, [Type.Boolean(), Type.Enum(["auto"], { type: "string" })], facts);

export const commands = section("Chat commands that start with /.", {
  native: notBuilt(onOffAuto("Registers commands with chat platforms that have command menus.", { default: "auto" })),
  nativeSkills: notBuilt(onOffAuto("Registers skills with those platforms, too.", { default: "auto" })),
  text: flag("Recognizes commands that are typed as text.", { default: true }),
  bash: flag("Allows the owner to run shell commands with ! and /bash.", { default: false }),
  bashForegroundMs: whole(
    "Milliseconds to wait for such a command before it continues in the background; 0 does not wait.",
    { default: 2000 },
  ),
  config: flag("Allows the owner to change the config with /config.", { default: false }),
  debug: flag("Allows the owner to change settings until the next restart with /debug.", { default: false }),
  restart: flag("Allows the owner, the agent and SIGUSR1 to restart the gateway.", { default: false }),
  useAccessGroups: flag("Applies the allowlists of messages to commands, too.", { default: true }),
  ownerAllowFrom: ids("Sender ids that count as the owner on every channel."),
});
