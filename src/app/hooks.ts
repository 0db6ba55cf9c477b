// Runs the owner's hooks on events of the gateway; loads no code while no hook is enabled.
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import { defaultAgentId, mainKeyOf, workspaceOf } from "../config/agents.ts";
import { mainSessionKey, type AgentId, type SessionKey } from "../core/names.ts";
import type { BootstrapFile, HookResult, HookContext } from "../plugin/hook/hook.ts";
import type { Emitter } from "../plugin/hook/emit.ts";
import type { Runtime } from "./runtime.ts";

export interface Hooks {
  /** Runs hooks for a chat command; returns their messages to the person. */
  readonly onCommand: (command: CommandEvent) => Promise<readonly string[]>;
  /** Undefined while no hook is enabled. */
  readonly onBootstrap: () => ((about: BootstrapEvent) => Promise<HookResult>) | undefined;
  /** Runs hooks for the start of the gateway, in the background. */
  started(): void;
  close(): Promise<void>;
}

export interface CommandEvent {
  readonly action: "new" | "reset" | "stop";
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly source: string;
  readonly senderId?: string | undefined;
}

export interface BootstrapEvent {
  readonly sessionKey: SessionKey;
  readonly sessionId: string;
  readonly agentId: AgentId;
  readonly files: readonly BootstrapFile[];
}

export function openHooks(runtime: Runtime): Hooks {
  const { settings, paths, store, log } = runtime;
  const { turns } = runtime.services;
  const config = () => settings.now().config;
  const isOn = (): boolean => {
    const { enabled, entries = {} } = config().hooks?.internal ?? {};
    return enabled === true && Object.values(entries).some((entry) => entry.enabled === true);
  };
  const emitter = lazy(() => openEmitter(runtime));
  const opened = emitter.get;
  const sessionContext = async (key: SessionKey, agentId: AgentId): Promise<HookContext> => {
    const record = await store.sessions.get(key);
    return {
      agentId,
      workspaceDir: workspaceOf(config(), agentId, paths),
      ...(record === undefined ? {} : { sessionId: record.sessionId, sessionEntry: record.entry }),
    };
  };
  const bootstrap = async ({ sessionKey, agentId, files }: BootstrapEvent): Promise<HookResult> => {
    const context = { ...(await sessionContext(sessionKey, agentId)), bootstrapFiles: files };
    return (await opened()).emit({ type: "agent", action: "bootstrap", sessionKey, context });
  };
  const startup = async (): Promise<void> => {
    const main = mainSessionKey(defaultAgentId(config()), mainKeyOf(config()));
    const { messages } = await (
      await opened()
    ).emit({ type: "gateway", action: "startup", sessionKey: main, context: {} });
    for (const text of messages) await turns().say(main, text);
  };
  return {
    async onCommand({ action, sessionKey, agentId, source, senderId }) {
      if (!isOn()) return [];
      const context = {
        ...(await sessionContext(sessionKey, agentId)),
        commandSource: source,
        ...(senderId === undefined ? {} : { senderId }),
      };
      return (await (await opened()).emit({ type: "command", action, sessionKey, context })).messages;
    },
    onBootstrap: () => (isOn() ? bootstrap : undefined),
    started() {
      if (isOn()) startup().catch((error: unknown) => log.warn("hooks for the start of the gateway failed", { error }));
    },
    async close() {
      await (await emitter.opened())?.close();
    },
  };
}

async function openEmitter({ settings, paths, env, store, services, mask, log }: Runtime): Promise<Emitter> {
  const { turns } = services;
  const [{ createEmitter }, { bootMd }, { commandLogger }, { sessionMemory }] = await Promise.all([
    import("../plugin/hook/emit.ts"),
    import("../plugin/hook/bundled/boot-md.ts"),
    import("../plugin/hook/bundled/command-logger.ts"),
    import("../plugin/hook/bundled/session-memory.ts"),
  ]);
  const config = () => settings.now().config;
  const own = log.child("hooks");
  const ports = { config, paths, store, turns, mask, log: own };
  const bundled = [bootMd(ports), commandLogger(ports), sessionMemory(ports)];
  return createEmitter({ config, paths, env, log: own, now: () => systemClock.now(), bundled });
}
