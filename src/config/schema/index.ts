// The whole config tree as one schema: every key optional, every object closed, every key described.
import { Type, type Static } from "../../core/schema.ts";
import { agents } from "./agents.ts";
import { approvals } from "./approvals.ts";
import { auth } from "./auth.ts";
import { bindings } from "./bindings.ts";
import { broadcast } from "./broadcast.ts";
import { browser } from "./browser.ts";
import { canvasHost } from "./canvas-host.ts";
import { channels } from "./channels.ts";
import { commands } from "./commands.ts";
import { cron } from "./cron.ts";
import { diagnostics } from "./diagnostics.ts";
import { discovery } from "./discovery.ts";
import { env } from "./env.ts";
import { text } from "./field.ts";
import { gateway } from "./gateway.ts";
import { hooks } from "./hooks.ts";
import { logging } from "./logging.ts";
import { mcp } from "./mcp.ts";
import { memory } from "./memory.ts";
import { messages } from "./messages.ts";
import { meta, wizard } from "./meta.ts";
import { models } from "./models.ts";
import { nodeHost } from "./node-host.ts";
import { plugins } from "./plugins.ts";
import { session } from "./session.ts";
import { skills } from "./skills.ts";
import { talk } from "./talk.ts";
import { tools } from "./tools.ts";
import { ui } from "./ui.ts";
import { update } from "./update.ts";
import { web } from "./web.ts";

export const ConfigSchema = Type.Object(
  {
    $schema: text("URL of the JSON Schema for editors; the gateway ignores it."),
    gateway,
    agents,
    bindings,
    broadcast,
    tools,
    approvals,
    channels,
    session,
    messages,
    commands,
    models,
    auth,
    memory,
    skills,
    plugins,
    mcp,
    hooks,
    cron,
    browser,
    canvasHost,
    nodeHost,
    talk,
    web,
    discovery,
    logging,
    diagnostics,
    env,
    update,
    ui,
    meta,
    wizard,
  },
  { additionalProperties: false },
);

/** What the file may say. The loaded config has the defaults filled in. */
export type Config = Static<typeof ConfigSchema>;
