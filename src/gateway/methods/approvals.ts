// The exec approvals file of this host and pending approvals over the wire.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/approvals.ts";
import { clientCard, type ClientRequest } from "../../approval/card.ts";
import { isDecision, toRequested, toTrail, type Answerer, type Approval } from "../../approval/record.ts";
import { readApprovals, withoutToken, writeApprovals } from "../../exec/policy/file.ts";
import type { Client } from "../client.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export function approvalMethods({ paths, approvals, clock }: GatewayContext): Served[] {
  return [
    serve(methods.approvalsGet)(() => withoutToken(readApprovals(paths.state))),
    serve(methods.approvalsSet)(({ file, baseHash }) => withoutToken(writeApprovals(paths.state, file, baseHash))),
    serve(methods.approvalRequest)(async ({ id, timeoutMs, ...asked }, client, signal) => {
      const approval = sameAsked(id, asked) ?? (await ask(id, timeoutMs, asked, client));
      const decision = await approvals.wait(approval.id, signal).catch((error: unknown) => {
        throw signal.aborted ? new OpenClawError("wire.gone", "the client disconnected") : error;
      });
      return { id: approval.id, decision, createdAtMs: approval.createdAtMs, expiresAtMs: approval.expiresAtMs };
    }),
    serve(methods.approvalResolve)(async ({ id, decision }, client) => {
      if (!isDecision(decision)) throw new OpenClawError("wire.invalid-request", "invalid decision");
      const { state, reason } = await approvals.answer(id, decision, answererOf(client));
      // As recorded, except for an approval that the rules in force deny: the answer says why the command did not run.
      return decision === "deny" || state !== "denied" ? { ok: true } : { ok: true, decision: "deny", reason };
    }),
    serve(methods.approvalsPending)(({ recent = 0 }) => ({
      now: clock.now(),
      pending: approvals.pending().map(toRequested),
      ...(recent === 0 ? {} : { recent: approvals.trail(recent).map(toTrail) }),
    })),
  ];

  /** A client that lost its connection may repeat the same request; for a different one the id is taken. */
  function sameAsked(id: string | undefined, asked: ClientRequest): Approval | undefined {
    const known = id === undefined ? undefined : approvals.get(id);
    return known?.handler === null && isDeepStrictEqual(known.body, asked) ? known : undefined;
  }

  function ask(id: string | undefined, timeoutMs: number | undefined, asked: ClientRequest, client: Client) {
    const { agentId = null, sessionKey = null } = asked;
    return approvals.askForClient({
      id,
      kind: asked.host === "node" ? "node" : "exec",
      agent: agentId,
      session: sessionKey,
      timeoutMs,
      body: asked,
      card: clientCard(asked, client.info.displayName ?? client.info.id),
      request: asked,
    });
  }
}

export function answererOf({ info, deviceId }: Pick<Client, "info" | "deviceId">): Answerer {
  return { clientId: info.id, surface: info.mode, ...(deviceId === undefined ? {} : { deviceId }) };
}
