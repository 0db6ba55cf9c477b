// Config changes by agents: writes a harmless change immediately; any other waits for approval and is written exactly once.
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
import type { AdminAnswer, AdminCaller, ChangeRequest } from "../tool/admin.ts";
import { trustOf } from "../session/provenance.ts";
import { changeCard, type CardFacts } from "./change-card.ts";
import type { AdminDeps } from "./deps.ts";
import type { Restarts } from "./restarts.ts";

/** Stored with the approval: everything needed to make exactly this change, without the secrets of the file. */
interface ChangeBody {
  readonly action: ChangeRequest["action"];
  readonly raw: string;
  readonly baseHash: string;
  /** Hash of the resulting text; no other text is written. */
  readonly nextHash: string;
  readonly note?: string;
  readonly delayMs?: number;
  /** Gets the outcome instead of the session that asked. */
  readonly tell?: SessionKey;
}

/** Longer than for a command: the owner may be away, and the change is compared with the file again before it is written. */
const ASK_MS = 30 * 60_000;

export class AgentChanges {
  readonly #deps: AdminDeps;
  readonly #restarts: Restarts;
  /** To be registered with the broker. */
  readonly approvals: ApprovalHandler<CardFacts> = {
    name: "config",
    kind: "config",
    canAllowAlways: false,
    card: changeCard,
    recheck: async ({ asker }) => {
      await this.#deps.recallTool(asker);
    },
    run: (approval) => this.#apply(approval),
    denied: (approval) => this.#reportDenied(approval, approval.reason ?? "denied by the owner"),
    interrupted: (approval) => this.#reportInterrupted(approval),
  };

  constructor(deps: AdminDeps, restarts: Restarts) {
    this.#deps = deps;
    this.#restarts = restarts;
  }

  async ask(ask: ChangeRequest, caller: AdminCaller): Promise<AdminAnswer> {
    const { store, settings } = this.#deps;
    const change = asToolError(() => this.#write(ask, { baseHash: ask.baseHash, check: true }));
    const { before, after } = change;
    if (!change.changed)
      return {
        text: "The config already has these values. Nothing was written.",
        details: factsOf(ask, after, false),
      };
    const touched = protectedChanges(sideOf(before), sideOf(after), caller.agent);
    const isOwners = caller.turn === undefined || (await trustOf(store, caller.turn)) === "owner";
    if (touched.length > 0 || !isOwners) return this.#askOwner(ask, caller, change, touched);
    const isCalm = await this.#restarts.isCalm();
    asToolError(() => this.#write(ask, { baseHash: before.hash }));
    const facts = factsOf(ask, settings.read(), true);
    if (!isCalm)
      return {
        text: "Written. Not restarted, because agents restarted the gateway too often recently; most settings apply without a restart.",
        details: { ...facts, restart: null },
      };
    const { action, note, delayMs } = ask;
    const plan = { kind: "config-apply", mode: action, delayMs, message: note, caller, log: "config" } as const;
    const restart = await this.#restarts.ask(plan);
    return { text: `Written. The gateway restarts in ${restart.delayMs} ms.`, details: { ...facts, restart } };
  }

  async #askOwner(
    ask: ChangeRequest,
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
    const file = this.#deps.paths.config;
    const facts = { action, before: before.raw, after: after.raw, file, touched, note, caller };
    const request = { agent, session, timeoutMs: Math.min(timeoutMs ?? ASK_MS, ASK_MS), body, asker };
    const approval =
      this.#pendingFor(session, body) ??
      (await this.#deps.broker.ask(this.approvals, facts, request).catch((error: unknown) => {
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
  #pendingFor(session: SessionKey, body: ChangeBody): Approval | undefined {
    return this.#deps.broker
      .pending()
      .find((one) => one.handler === "config" && one.session === session && isDeepStrictEqual(one.body, body));
  }

  /** Once started, the session gets the outcome exactly once, now or after the restart. */
  async #apply(approval: Approval): Promise<string> {
    const body = approval.body as ChangeBody;
    try {
      // The owner approved this change of this text: both hashes must still match.
      const { after } = this.#write(body, { baseHash: body.baseHash, check: true });
      if (after.hash !== body.nextHash)
        throw new OpenClawError("config.conflict", "it would now write a text that the owner did not see");
      this.#write(body, { baseHash: body.baseHash });
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      await this.#reportDenied(approval, conflictText(error));
      return `not applied: ${error.code}`;
    }
    const caller = { agent: approval.agent, session: approval.session, tell: body.tell } as AdminCaller;
    const allowed = `The owner allowed it (id=${approval.id}); the config is written.`;
    await this.#restarts.ask({
      kind: "config-apply",
      mode: body.action,
      delayMs: body.delayMs,
      message: body.note === undefined ? allowed : `${allowed}\nNote: ${body.note}`,
      caller,
      log: "approved by the owner",
      stats: { approvalId: approval.id },
    });
    return "applied";
  }

  /** The hash of the file shows how far the previous process got. */
  async #reportInterrupted(approval: Approval): Promise<void> {
    if (this.#restarts.wasDelivered(approval.id)) return;
    const { nextHash, baseHash } = (approval.body ?? {}) as Partial<ChangeBody>;
    const { hash } = this.#deps.settings.read();
    if (hash === nextHash)
      return this.#notify(approval, `Config change applied (${nameOf(approval)}); the gateway stopped right after.`);
    const why =
      hash === baseHash
        ? "the gateway stopped before it was written"
        : "the gateway stopped, and the file has changed since";
    return this.#reportDenied(approval, why);
  }

  #reportDenied(approval: Approval, why: string): Promise<void> {
    return this.#notify(approval, `Config change denied (${nameOf(approval)}): ${why}. Nothing was written.`);
  }

  async #notify({ session, body }: Approval, text: string): Promise<void> {
    const { tell: other } = (body ?? {}) as Partial<ChangeBody>;
    await this.#deps.wake().notify((other ?? session) as SessionKey, this.#deps.mask(text));
  }

  #write(ask: Pick<ChangeRequest, "action" | "raw">, options: ChangeOptions): ConfigChange {
    return changeConfig(this.#deps, (current) => nextTextOf(ask, current), options);
  }
}

const nameOf = ({ id }: Approval): string => `id=${id}`;

function whyAsked(touched: readonly ProtectedChange[]): string {
  if (touched.length === 0)
    return "Only the owner can change the config without approval, and this turn contains input from other sources.";
  return `This changes ${touched.map(({ path }) => path).join(", ")}, which needs the owner's approval.`;
}

/** Agents see the config with secrets redacted; `savedText` restores those that come back unchanged. */
function nextTextOf({ action, raw }: Pick<ChangeRequest, "action" | "raw">, current: LoadedConfig): string {
  return action === "config.patch" ? patchText(current.raw, raw) : savedText(current, raw);
}

function sideOf({ raw, parsed }: LoadedConfig): ConfigSide {
  const source = parseSource("the config", Buffer.from(raw, "utf8"));
  return { source: "value" in source ? source.value : undefined, parsed };
}

function factsOf({ action }: ChangeRequest, { path, hash }: LoadedConfig, changed: boolean): Record<string, unknown> {
  return { ok: true, action, path, hash, changed };
}

/** Rethrows as a tool error, so that the model reads the reason. */
function asToolError<T>(work: () => T): T {
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
