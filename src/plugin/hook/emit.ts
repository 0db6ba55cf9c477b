// Calls hooks with an event, one after the other; a hook that throws, hangs or is broken does not affect the others.
import { sep } from "node:path";

import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { redactConfig } from "../../config/redact.ts";
import type { Config } from "../../config/schema/index.ts";
import { openScript, type Script } from "../script.ts";
import type { BundledHook } from "./bundled/bundled.ts";
import { discoverHooks, entryOf } from "./discover.ts";
import type { BootstrapFile, HookResult, HookEvent, HookRow, Occurrence } from "./hook.ts";
import { scriptOf } from "./pinned.ts";

export interface EmitDeps {
  readonly config: () => Config;
  readonly paths: Paths;
  readonly env: Env;
  readonly log: Log;
  readonly now: () => number;
  readonly bundled: readonly BundledHook[];
}

export interface Emitter {
  /** Never throws. */
  emit(occurrence: Occurrence): Promise<HookResult>;
  close(): Promise<void>;
}

const DEADLINE_MS = { command: 5000, agent: 3000, gateway: 30_000 } as const;
const MAX_MESSAGES = 10;
const MAX_MESSAGE_CHARS = 4000;
const MAX_FILES = 20;

export function createEmitter(deps: EmitDeps): Emitter {
  const { config, paths, env, log, bundled } = deps;
  const scripts = new Map<string, Script>();
  // The list changes only with the config: a person decides what runs, not a changed file.
  let known: { readonly config: Config; readonly rows: readonly HookRow[] } | undefined;
  const rowsNow = async (): Promise<readonly HookRow[]> => {
    const now = config();
    if (known?.config === now) return known.rows;
    await closeScripts();
    const rows = discoverHooks({ config: now, paths, env, bundled: bundled.map(({ card }) => card) });
    for (const { name, problem, enabled } of rows)
      if (enabled && problem) log.warn(`hook ${name} does not run: ${problem}`);
    known = { config: now, rows };
    return rows;
  };
  const closeScripts = async (): Promise<void> => {
    const open = [...scripts.values()];
    scripts.clear();
    await Promise.all(open.map((script) => script.close()));
  };
  const openedScript = (row: HookRow): Script => {
    const script =
      scripts.get(row.name) ??
      openScript({
        file: scriptOf(row, paths.state),
        exportName: row.exportName,
        what: `hook ${row.name}`,
        env: { ...plainEnv(env), ...entryOf(config(), row.name).env },
        log,
      });
    scripts.set(row.name, script);
    return script;
  };
  const tell = async (row: HookRow, event: HookEvent): Promise<unknown> => {
    const own = bundled.find(({ card }) => row.source === "bundled" && card.name === row.name);
    if (own !== undefined) {
      await own.run(event);
      return event;
    }
    return (await openedScript(row).call(event, DEADLINE_MS[event.type])).argument;
  };
  return {
    async emit(occurrence) {
      const messages: string[] = [];
      let { bootstrapFiles } = occurrence.context;
      try {
        for (const row of (await rowsNow()).filter((each) => receives(each, occurrence))) {
          const event = eventOf(occurrence, bootstrapFiles, deps);
          const changed = await tell(row, event).catch((error: unknown) => {
            log.warn(`hook ${row.name} failed at ${occurrence.type}:${occurrence.action}`, { error });
          });
          messages.push(...messagesIn(changed));
          bootstrapFiles = filesIn(changed) ?? bootstrapFiles;
        }
      } catch (error) {
        log.error("hooks could not be called for an event", {
          error,
          event: `${occurrence.type}:${occurrence.action}`,
        });
      }
      return { messages: messages.slice(0, MAX_MESSAGES), ...(bootstrapFiles === undefined ? {} : { bootstrapFiles }) };
    },
    close: closeScripts,
  };
}

/** Hooks of a workspace get only events of that workspace. */
function receives({ runs, events, source, folder }: HookRow, { type, action, context }: Occurrence): boolean {
  const isFar =
    source === "workspace" &&
    context.workspaceDir !== undefined &&
    !folder?.startsWith(`${context.workspaceDir}${sep}`);
  return runs && !isFar && (events.includes(type) || events.includes(`${type}:${action}`));
}

function eventOf(
  { type, action, sessionKey, context }: Occurrence,
  bootstrapFiles: readonly BootstrapFile[] | undefined,
  { now, config }: EmitDeps,
): HookEvent {
  return {
    type,
    action,
    sessionKey,
    timestamp: new Date(now()),
    messages: [],
    context: {
      ...context,
      ...(bootstrapFiles === undefined ? {} : { bootstrapFiles: bootstrapFiles.map((file) => ({ ...file })) }),
      cfg: redactConfig(config()),
    },
  };
}

/** Enough to start programs; keys and tokens are listed per hook in its entry. */
function plainEnv(env: Env): Env {
  const names = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "SystemRoot"];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function messagesIn(event: unknown): string[] {
  const { messages } = (event ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((text) =>
    typeof text === "string" && text.trim() !== "" ? [text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()] : [],
  );
}

function filesIn(event: unknown): readonly BootstrapFile[] | undefined {
  const { context } = (event ?? {}) as { context?: { bootstrapFiles?: unknown } };
  if (!Array.isArray(context?.bootstrapFiles)) return undefined;
  return (context.bootstrapFiles as unknown[]).slice(0, MAX_FILES).flatMap((file) => {
    const { name, content } = (file ?? {}) as Partial<BootstrapFile>;
    return typeof name === "string" && typeof content === "string" ? [{ name: name.slice(0, 200), content }] : [];
  });
}
