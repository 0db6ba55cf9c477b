// boot-md: after the start of the gateway, each agent with a BOOT.md in its workspace follows it.
import { existsSync } from "node:fs";

import { newId } from "../../../base/ids.ts";
import { openRoot } from "../../../base/rooted-fs.ts";
import { mainSessionKey } from "../../../core/names.ts";
import { agentIds, mainKeyOf, workspaceOf } from "../../../config/agents.ts";
import type { BundledHook, BundledPorts } from "./bundled.ts";
import { bootMd as card } from "./cards.ts";

const MAX_BYTES = 65_536;

export function bootMd({ config, paths, turns, log }: BundledPorts): BundledHook {
  return {
    card,
    async run() {
      for (const agentId of agentIds(config())) {
        const text = await bootText(workspaceOf(config(), agentId, paths)).catch((error: unknown) => {
          log.warn(`boot-md: BOOT.md of ${agentId} could not be read`, { error });
          return "";
        });
        if (text === "") continue;
        await turns().post({
          runId: newId(),
          sessionKey: mainSessionKey(agentId, mainKeyOf(config())),
          text: `The gateway has just started. Follow the instructions in BOOT.md of your workspace, quoted below. If there is nothing to report, answer NO_REPLY.\n\n${text}`,
          source: "hook",
          authorised: false,
          label: "BOOT.md",
        });
      }
    },
  };
}

/** Empty when the file is missing or contains only headings. */
async function bootText(workspace: string): Promise<string> {
  if (!existsSync(workspace)) return "";
  const root = await openRoot({ root: workspace });
  if ((await root.stat("BOOT.md")) === undefined) return "";
  const { bytes } = await root.read("BOOT.md", { maxBytes: MAX_BYTES });
  const text = bytes.toString("utf8").trim();
  return text.split("\n").every((line) => /^\s*(?:#.*)?$/.test(line)) ? "" : text;
}
