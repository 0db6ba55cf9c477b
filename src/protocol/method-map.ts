// Every method by its name: what clients send and what they receive. Types only, so that the page can use it.
import type { Method } from "./method.ts";
import type * as agents from "./methods/agents.ts";
import type * as approvals from "./methods/approvals.ts";
import type * as browser from "./methods/browser.ts";
import type * as channels from "./methods/channels.ts";
import type * as chat from "./methods/chat.ts";
import type * as config from "./methods/config.ts";
import type * as cron from "./methods/cron.ts";
import type * as devices from "./methods/devices.ts";
import type * as heartbeat from "./methods/heartbeat.ts";
import type * as memory from "./methods/memory.ts";
import type * as models from "./methods/models.ts";
import type * as nodes from "./methods/nodes.ts";
import type * as sessions from "./methods/sessions.ts";
import type * as system from "./methods/system.ts";
import type * as tools from "./methods/tools.ts";
import type * as undo from "./methods/undo.ts";
import type * as update from "./methods/update.ts";
import type * as usage from "./methods/usage.ts";
import type * as voice from "./methods/voice.ts";

type MethodsIn<Module> = Extract<Module[keyof Module], Method>;

type AnyMethod =
  | MethodsIn<typeof agents>
  | MethodsIn<typeof approvals>
  | MethodsIn<typeof browser>
  | MethodsIn<typeof channels>
  | MethodsIn<typeof chat>
  | MethodsIn<typeof config>
  | MethodsIn<typeof cron>
  | MethodsIn<typeof devices>
  | MethodsIn<typeof heartbeat>
  | MethodsIn<typeof memory>
  | MethodsIn<typeof models>
  | MethodsIn<typeof nodes>
  | MethodsIn<typeof sessions>
  | MethodsIn<typeof system>
  | MethodsIn<typeof tools>
  | MethodsIn<typeof undo>
  | MethodsIn<typeof update>
  | MethodsIn<typeof usage>
  | MethodsIn<typeof voice>;

type MethodMap = { [M in AnyMethod as M["name"]]: M };

export type MethodName = keyof MethodMap;
export type MethodParams<N extends MethodName> = MethodMap[N] extends Method<infer P> ? P : never;
export type MethodResult<N extends MethodName> = MethodMap[N] extends Method<unknown, infer R> ? R : never;
