// Ready-made rules for webhooks of well-known senders.
import type { Config } from "../../config/schema/index.ts";

export type Mapping = NonNullable<NonNullable<Config["hooks"]>["mappings"]>[number];

export const presetNames: readonly string[] = ["gmail"];

/** Undefined for an unknown name. */
export function presetNamed(name: string, config: Config): Mapping | undefined {
  return name === "gmail" ? gmail(config) : undefined;
}

function gmail(config: Config): Mapping {
  const { model, thinking, allowUnsafeExternalContent } = config.hooks?.gmail ?? {};
  return {
    id: "gmail",
    match: { path: "gmail" },
    action: "agent",
    wakeMode: "now",
    name: "Gmail",
    sessionKey: "hook:gmail:{{messages[0].id}}",
    messageTemplate:
      "New mail.\nFrom: {{messages[0].from}}\nSubject: {{messages[0].subject}}\n\n{{messages[0].snippet}}\n{{messages[0].body}}",
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(allowUnsafeExternalContent === undefined ? {} : { allowUnsafeExternalContent }),
  };
}
