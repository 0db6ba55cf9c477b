// Config changes made by agents: written at once when harmless, else asked of the owner and then written exactly once.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError, ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { sha256 } from "../../base/ids.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { patchText } from "../../config/patch.ts";
import { protectedChanges, type ConfigSide, type ProtectedChange } from "../../config/protected.ts";
import { savedText } from "../../config/save.ts";
import { parseSource } from "../../config/source.ts";
import { writeConfig } from "../../config/write.ts";
import type { Approval } from "../../approval/record.ts";
import type { AdminAnswer, AdminCaller, ChangeAsk } from "../../tool/admin.ts";
import type { Runtime } from "../runtime.ts";
import { trustOf } from "../../session/provenance.ts";
import { changeCard } from "./card.ts";
import type { Restarts } from "./restarts.ts";

/** What is kept with the question: all that is needed to do exactly that. The secrets of the file are not in it. */
interface ChangeBody {
  readonly action: ChangeAsk["action"];
  readonly raw: string;
  readonly baseHash: string;
  /** Of the text that results; another one is not written. */
  readonly nextHash: string;
  readonly note?: string;
  readonly delayMs?: number;
  readonly tell?: SessionKey;
}

export interface Changes {
  ask(ask: ChangeAsk, caller: AdminCaller): Promise<AdminAnswer>;
  answered(what: "resolved" | "lapsed" | "interrupted", approval: Approval): Promise<void>;
}

/** The owner may be away; a command would be stale by then, a change of a file is checked against it again. */
const ASK_MS = 30 * 60_000;

export function createChanges(runtime: Runtime, restarts: Restarts): Changes {
  const { paths, env, settings, mask } = runtime;
  const { broker } = runtime.commands;

  return {
    async ask(ask, caller) {
      const current = settings.read();
      const nextText = nextTextOf(ask, current);
      const baseHash = ask.baseHash ?? current.hash;
      const { changed, loaded } = tried(() => writeConfig({ paths, env, nextText, baseHash, check: true }));
      if (!changed)
        return { text: "The config says that already; nothing was written.", details: factsOf(ask, loaded, false) };
      const touched = protectedChanges(
        sideOf(current.raw, current.parsed),
        sideOf(nextText, loaded.parsed),
        caller.agent,
      );
      const isOwners = caller.turn === undefined || (await trustOf(runtime.store, caller.turn)) === "owner";
      if (touched.length > 0 || !isOwners) return askOwner(ask, caller, current, nextText, touched);
      const calm = await restarts.isCalm();
      tried(() => writeConfig({ paths, env, nextText, baseHash: current.hash }));
      const facts = factsOf(ask, settings.read(), true);
      if (!calm)
        return {
          text: "Written. Not restarted, there were too many restarts of late; most settings are in force all the same.",
          details: { ...facts, restart: null },
        };
      const { action, note, delayMs } = ask;
      const told = await restarts.ask({
        kind: "config-apply",
        mode: action,
        delayMs,
        message: note,
        caller,
        log: "config",
      });
      return { text: `Written. The gateway restarts in ${told.delayMs} ms.`, details: { ...facts, restart: told } };
    },
    async answered(what, approval) {
      if (what === "interrupted") return interrupted(approval);
      if (what === "lapsed") return tellDenied(approval, approval.reason ?? "it was not begun in time");
      const { id, state, agent, session } = approval;
      if (state === "expired") return tellDenied(approval, "nobody answered in time");
      if (state !== "allowed") return tellDenied(approval, approval.reason ?? "denied by the owner");
      if (!(await broker.begin(id, { agent, session }))) return;
      await broker.finish(id, await apply(approval));
    },
  };

  async function askOwner(
    ask: ChangeAsk,
    caller: AdminCaller,
    current: LoadedConfig,
    nextText: string,
    touched: readonly ProtectedChange[],
  ): Promise<AdminAnswer> {
    const { action, raw, note, delayMs, timeoutMs } = ask;
    const body: ChangeBody = {
      action,
      raw,
      baseHash: current.hash,
      nextHash: sha256(nextText),
      ...(note === undefined ? {} : { note }),
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(caller.tell === undefined ? {} : { tell: caller.tell }),
    };
    const { agent, session } = caller;
    const asker = await caller.asker?.();
    const card = changeCard({
      action,
      before: current.raw,
      after: nextText,
      file: paths.config,
      touched,
      note,
      caller,
    });
    const approval =
      waiting(session, body) ??
      (await broker
        .ask({ kind: "config", agent, session, timeoutMs: Math.min(timeoutMs ?? ASK_MS, ASK_MS), body, asker, card })
        .catch((error: unknown) => {
          throw error instanceof OpenClawError && error.code === "approval.too-long" ? tooLong(error) : error;
        }));
    const slug = approval.id.slice(0, 8);
    return {
      text: `${whyAsked(touched)} Waiting for the owner's answer (id ${slug}; /approve ${slug} allow-once|deny). Nothing was written. What comes of it follows as a System line; do not ask again meanwhile.`,
      details: {
        status: "approval-pending",
        approvalId: approval.id,
        approvalSlug: slug,
        expiresAtMs: approval.expiresAtMs,
        action,
        protected: touched,
        baseHash: current.hash,
      },
    };
  }

  /** The same question of the same session is asked once. */
  function waiting(session: SessionKey, body: ChangeBody): Approval | undefined {
    return broker
      .pending()
      .find((one) => one.kind === "config" && one.session === session && isDeepStrictEqual(one.body, body));
  }

  /** Begun: whatever happens, the session hears of it once, now or after the restart. */
  async function apply(approval: Approval): Promise<string> {
    const body = approval.body as ChangeBody;
    try {
      const current = settings.read();
      const nextText = nextTextOf(body, current);
      // First the base: the owner saw what this change does to that text, not to another.
      writeConfig({ paths, env, nextText, baseHash: body.baseHash, check: true });
      if (sha256(nextText) !== body.nextHash)
        throw new OpenClawError("config.conflict", "it would write another text now");
      writeConfig({ paths, env, nextText, baseHash: body.baseHash });
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      await tellDenied(approval, conflictText(error));
      return `not applied: ${error.code}`;
    }
    const caller = { agent: approval.agent, session: approval.session, tell: body.tell } as AdminCaller;
    const yes = `The owner allowed it (id=${approval.id}); the config is written.`;
    await restarts.ask({
      kind: "config-apply",
      mode: body.action,
      delayMs: body.delayMs,
      message: body.note === undefined ? yes : `${yes}\nNote: ${body.note}`,
      caller,
      log: "approved by the owner",
      stats: { approvalId: approval.id },
    });
    return "applied";
  }

  /** The file itself says how far the last process came. */
  async function interrupted(approval: Approval): Promise<void> {
    if (restarts.toldOf(approval.id)) return;
    const { nextHash, baseHash } = (approval.body ?? {}) as Partial<ChangeBody>;
    const { hash } = settings.read();
    if (hash === nextHash)
      return tell(approval, `Config change applied (${nameOf(approval)}); the gateway was cut off right after.`);
    const why =
      hash === baseHash
        ? "the gateway was cut off before it was written"
        : "the gateway was cut off; the file has changed since";
    return tellDenied(approval, why);
  }

  function tellDenied(approval: Approval, why: string): Promise<void> {
    return tell(approval, `Config change denied (${nameOf(approval)}): ${why}. Nothing was written.`);
  }

  async function tell({ session, body }: Approval, text: string): Promise<void> {
    const { tell: other } = (body ?? {}) as Partial<ChangeBody>;
    await runtime.wake().tell((other ?? session) as SessionKey, mask(text));
  }
}

const nameOf = ({ id }: Approval): string => `id=${id}`;

function whyAsked(touched: readonly ProtectedChange[]): string {
  if (touched.length === 0) return "The config is changed for the owner only, and this turn has other words in it.";
  return `This touches ${touched.map(({ path }) => path).join(", ")}, which only the owner changes.`;
}

/** Agents get the config with secrets hidden; what they send back unchanged is put back. */
function nextTextOf({ action, raw }: Pick<ChangeAsk, "action" | "raw">, current: LoadedConfig): string {
  return tried(() => (action === "config.patch" ? patchText(current.raw, raw) : savedText(current, raw)));
}

function sideOf(text: string, parsed: unknown): ConfigSide {
  const source = parseSource("the config", Buffer.from(text, "utf8"));
  return { source: "value" in source ? source.value : undefined, parsed };
}

function factsOf({ action }: ChangeAsk, { path, hash }: LoadedConfig, changed: boolean): Record<string, unknown> {
  return { ok: true, action, path, hash, changed };
}

/** For a model all of them are something to react to. */
function tried<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const { code, hint, details } = error;
    throw new ToolError(code, conflictText(error), { ...(hint === undefined ? {} : { hint }), details, cause: error });
  }
}

function conflictText({ message, details }: OpenClawError): string {
  const { diff } = (details ?? {}) as { diff?: unknown };
  return typeof diff === "string" && diff !== "" ? `${message}\n${diff}` : message;
}

function tooLong(error: OpenClawError): ToolError {
  return new ToolError(error.code, `${error.message}; nobody could read that to the end`, {
    hint: "make the change in smaller steps with config.patch",
  });
}
