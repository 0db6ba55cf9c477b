// The table of commands: names and one line each. A command's own file is loaded only when it runs or explains itself.
import type { Entry } from "../command.ts";
import type { Group } from "../find.ts";

export const groups: readonly Group[] = [
  { path: ["agents"], summary: "The agents and what they answer.", bare: "list" },
  { path: ["approvals"], summary: "Which programs may run without asking.", bare: "get" },
  { path: ["config"], summary: "Read and change the config file." },
  { path: ["devices"], summary: "Devices and browsers that may connect.", bare: "list" },
  { path: ["gateway"], summary: "Run the gateway and talk to it.", bare: "run" },
  { path: ["sessions"], summary: "Sessions, what was said in them, and replays.", bare: "list" },
  { path: ["store"], summary: "Check, back up and restore the store." },
  { path: ["tools"], summary: "What an agent may use, why, and one call by hand.", bare: "list" },
];

export const entries: readonly Entry[] = [
  row("agent", "Send one message to an agent and print its reply.", () => import("./agent.ts")),
  row("agents add", "Add an agent.", () => import("./agents-add.ts")),
  row("agents bind", "Let an agent answer a channel or one conversation.", () => import("./agents-bind.ts")),
  row("agents delete", "Remove an agent and what is bound to it.", () => import("./agents-delete.ts")),
  row("agents list", "List the agents.", () => import("./agents-list.ts")),
  row(
    "approvals get",
    "Show the exec approvals of this machine or of the gateway.",
    () => import("./approvals-get.ts"),
  ),
  row("chat", "Talk with an agent in the terminal.", () => import("./chat.ts")),
  row("completion", "Print a completion script for your shell.", () => import("./completion.ts")),
  row("config file", "Print where the config file is.", () => import("./config-file.ts")),
  row("config get", "Print one value, or the whole config.", () => import("./config-get.ts")),
  row("config schema", "Print the JSON Schema of the config, for editors.", () => import("./config-schema.ts")),
  row("config set", "Change one value; comments and order stay.", () => import("./config-set.ts")),
  row("config unset", "Remove one value.", () => import("./config-unset.ts")),
  row("config validate", "Check the config and name what is wrong, with line.", () => import("./config-validate.ts")),
  row("dashboard", "Open the page with a link that pairs this browser.", () => import("./dashboard.ts")),
  row("devices approve", "Let a waiting device in.", () => import("./devices-approve.ts")),
  row("devices list", "Show devices that wait and devices that are paired.", () => import("./devices-list.ts")),
  row("devices reject", "Turn a waiting device away.", () => import("./devices-reject.ts")),
  row("devices revoke", "End a device's token and its connections.", () => import("./devices-revoke.ts")),
  row("devices rotate", "Give a device a new token; the old one ends.", () => import("./devices-rotate.ts")),
  row("doctor", "Look for what is wrong and say how to mend it.", () => import("./doctor.ts")),
  row("gateway call", "Call one method of the running gateway.", () => import("./gateway-call.ts")),
  row("gateway health", "Ask the gateway for its health (same as openclaw health).", () => import("./health.ts")),
  row("gateway probe", "Try every gateway this config knows of.", () => import("./gateway-probe.ts")),
  row("gateway restart", "Restart the running gateway in place.", () => import("./gateway-restart.ts")),
  row("gateway run", "Run the gateway in the foreground.", () => import("./gateway-run.ts")),
  row("gateway status", "Say whether a gateway runs here and answers.", () => import("./gateway-status.ts")),
  row("gateway stop", "Stop the running gateway and wait until it has ended.", () => import("./gateway-stop.ts")),
  row("health", "Ask the gateway for its health.", () => import("./health.ts")),
  row("help", "Show help on a command.", () => import("./help.ts")),
  row("logs", "Show the end of the log, or follow it.", () => import("./logs.ts")),
  row("sessions export", "Write the whole transcript of a session.", () => import("./sessions-export.ts")),
  row("sessions history", "Show the last messages of a session.", () => import("./sessions-history.ts")),
  row("sessions list", "List the sessions of the gateway.", () => import("./sessions-list.ts")),
  row("sessions replay", "Run a recorded session again, offline.", () => import("./sessions-replay.ts")),
  row("status", "One screen: config, gateway, sessions, devices.", () => import("./status.ts")),
  row("store backup", "Copy the store into one file, also while the gateway runs.", () => import("./store-backup.ts")),
  row("store restore", "Put a backup in place of the store.", () => import("./store-restore.ts")),
  row("store salvage", "Save what can be read of a damaged store into a new one.", () => import("./store-salvage.ts")),
  row("store verify", "Check that the store is whole.", () => import("./store-verify.ts")),
  row("tools call", "Call one tool from the shell, under the same rules.", () => import("./tools-call.ts")),
  row(
    "tools explain",
    "Say whether a tool may be used, by which rule, and how to change it.",
    () => import("./tools-explain.ts"),
  ),
  row("tools list", "List the tools an agent may use.", () => import("./tools-list.ts")),
  row("usage", "Show tokens and cost per day.", () => import("./usage.ts")),
];

function row(words: string, summary: string, load: Entry["load"]): Entry {
  return { path: words.split(" "), summary, load };
}
