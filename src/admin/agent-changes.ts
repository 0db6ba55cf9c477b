// Config changes by agents: writes a harmless change at once; any other waits for approval and is written exactly once.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError, ToolError } from "../core/error.ts";
import type { SessionKey } from "../core/names.ts";
import type { LoadedConfig } from "../config/load.ts";
import { changeConfig, type ChangeOptions, type ConfigChange } from "../config/change.ts";
import { patchText } from "../config/patch.ts";
import { protectedChanges, type ConfigSide, type ProtectedChange } from "../config/protected.ts";
import { savedText } from "../config/save.ts";
import { parseSource } from "../config/source.ts";
import type { ApprovalHandler } from "../approval/handler.ts";
import type { Approval } from "../approval/record.ts";
import type { AdminAnswer, AdminCaller, ChangeAsk } from "../tool/admin.ts";
import { trustOf } from "../session/provenance.ts";
import { changeCard, type CardFacts } from "./change-card.ts";
import type { AdminDeps } from "./deps.ts";
import type { Restarts } from "./restarts.ts";

/** Stored with the approval: everything needed to make exactly this change, without the secrets of the file. */
interface ChangeBody {
  readonly action: ChangeAsk["action"];
  readonly raw: string;
  readonly baseHash: string;
  /** Hash of the resulting text; no other text is written. */
  readonly nextHash: string;
  readonly note?: string;
  readonly delayMs?: number;
  readonly tell?: SessionKey;
}

export interface AgentChanges {
  ask(ask: ChangeAsk, caller: AdminCaller): Promise<AdminAnswer>;
  /** To be registered with the broker. */
  readonly approvals: ApprovalHandler<CardFacts>;
}

/** Longer than for a command: the owner may be away, and the change is compared with the file again before it is written. */
const ASK_MS = 30 * 60_000;

export function createAgentChanges(deps: AdminDeps, restarts: Restarts): AgentChanges {
  const { paths, settings, mask, broker } = deps;
  const write = (ask: Pick<ChangeAsk, "action" | "raw">, options: ChangeOptions): ConfigChange =>
    changeConfig(deps, (current) => nextTextOf(ask, current), options);
  const approvals: ApprovalHandler<CardFacts> = {
    name: "config",
    kind: "config",
    canAllowAlways: false,
    card: changeCard,
    async recheck({ asker }) {
      await deps.recallTool(asker);
    },
    run: apply,
    denied: (approval) => tellDenied(approval, approval.reason ?? "denied by the owner"),
    interrupted,
  };

  return {
    async ask(ask, caller) {
      const change = tried(() => write(ask, { baseHash: ask.baseHash, check: true }));
      const { before, after } = change;
      if (!change.changed)
        return {
          text: "The config already has these values. Nothing was written.",
          details: factsOf(ask, after, false),
        };
      const touched = protectedChanges(sideOf(before), sideOf(after), caller.agent);
      const isOwners = caller.turn === undefined || (await trustOf(deps.store, caller.turn)) === "owner";
      if (touched.length > 0 || !isOwners) return askOwner(ask, caller, change, touched);
      const calm = await restarts.isCalm();
      tried(() => write(ask, { baseHash: before.hash }));
      const facts = factsOf(ask, settings.read(), true);
      if (!calm)
        return {
          text: "Written. Not restarted, because agents restarted the gateway too often recently; most settings apply without a restart.",
          details: { ...facts, restart: null },
        };
      const { action, note, delayMs } = ask;
      const restart = await restarts.ask({
        kind: "config-apply",
        mode: action,
        delayMs,
        message: note,
        caller,
        log: "config",
      });
      return { text: `Written. The gateway restarts in ${restart.delayMs} ms.`, details: { ...facts, restart } };
    },
    approvals,
  };

  async function askOwner(
    ask: ChangeAsk,
    caller: AdminCaller,
    { before, after }: ConfigChange,
    touched: readonly ProtectedChange[],
  ): Promise<AdminAnswer> {
    const { action, raw, note, delayMs, timeoutMs } = ask;
    const body: ChangeBody = {
      action,
      raw,
      baseHash: before.hash,
      nextHash: after.hash,
      ...(note === undefined ? {} : { note }),
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(caller.tell === undefined ? {} : { tell: caller.tell }),
    };
    const { agent, session } = caller;
    const asker = await caller.asker?.();
    const facts = { action, before: before.raw, after: after.raw, file: paths.config, touched, note, caller };
    const approval =
      waiting(session, body) ??
      (await broker
        .ask(approvals, facts, { agent, session, timeoutMs: Math.min(timeoutMs ?? ASK_MS, ASK_MS), body, asker })
        .catch((error: unknown) => {
          throw error instanceof OpenClawError && error.code === "approval.too-long" ? tooLong(error) : error;
        }));
    const slug = approval.id.slice(0, 8);
    return {
      text: `${whyAsked(touched)} Waiting for the owner's approval (id ${slug}; /approve ${slug} allow-once|deny). Nothing is written yet. A System line reports the outcome; do not repeat the request.`,
      details: {
        status: "approval-pending",
        approvalId: approval.id,
        approvalSlug: slug,
        expiresAtMs: approval.expiresAtMs,
        action,
        protected: touched,
        baseHash: before.hash,
      },
    };
  }

  /** A repeated request joins the pending approval. */
  function waiting(session: SessionKey, body: ChangeBody): Approval | undefined {
    return broker
      .pending()
      .find((one) => one.handler === "config" && one.session === session && isDeepStrictEqual(one.body, body));
  }

  /** Once started, the session gets the outcome exactly once, now or after the restart. */
  async function apply(approval: Approval): Promise<string> {
    const body = approval.body as ChangeBody;
    try {
      // The owner approved this change of this text: both hashes must still match.
      const { after } = write(body, { baseHash: body.baseHash, check: true });
      if (after.hash !== body.nextHash)
        throw new OpenClawError("config.conflict", "it would now write a text that the owner did not see");
      write(body, { baseHash: body.baseHash });
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

  /** The hash of the file shows how far the previous process got. */
  async function interrupted(approval: Approval): Promise<void> {
    if (restarts.wasDelivered(approval.id)) return;
    const { nextHash, baseHash } = (approval.body ?? {}) as Partial<ChangeBody>;
    const { hash } = settings.read();
    if (hash === nextHash)
      return tell(approval, `Config change applied (${nameOf(approval)}); the gateway stopped right after.`);
    const why =
      hash === baseHash
        ? "the gateway stopped before it was written"
        : "the gateway stopped, and the file has changed since";
    return tellDenied(approval, why);
  }

  function tellDenied(approval: Approval, why: string): Promise<void> {
    return tell(approval, `Config change denied (${nameOf(approval)}): ${why}. Nothing was written.`);
  }

  async function tell({ session, body }: Approval, text: string): Promise<void> {
    const { tell: other } = (body ?? {}) as Partial<ChangeBody>;
    await deps.wake().tell((other ?? session) as SessionKey, mask(text));
  }
}

const nameOf = ({ id }: Approval): string => `id=${id}`;

function whyAsked(touched: readonly ProtectedChange[]): string {
  if (touched.length === 0)
    return "Only the owner can change the config without approval, and this turn contains input from other sources.";
  return `This changes ${touched.map(({ path }) => path).join(", ")}, which needs the owner's approval.`;
}

/** Agents see the config with secrets redacted; `savedText` restores those that come back unchanged. */
function nextTextOf({ action, raw }: Pick<ChangeAsk, "action" | "raw">, current: LoadedConfig): string {
  return action === "config.patch" ? patchText(current.raw, raw) : savedText(current, raw);
}

function sideOf({ raw, parsed }: LoadedConfig): ConfigSide {
  const source = parseSource("the config", Buffer.from(raw, "utf8"));
  return { source: "value" in source ? source.value : undefined, parsed };
}

function factsOf({ action }: ChangeAsk, { path, hash }: LoadedConfig, changed: boolean): Record<string, unknown> {
  return { ok: true, action, path, hash, changed };
}

/** As a tool error: the model can react to it. */
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
  return new ToolError(error.code, `${error.message}: the diff is too long to review`, {
    hint: "make the change in smaller steps with config.patch",
  });
}
