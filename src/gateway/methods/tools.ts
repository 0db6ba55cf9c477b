// The tools of an agent with the decision on each, one decision explained, one tool called, the journal read.
import * as methods from "../../protocol/methods/tools.ts";
import { agentIds } from "../../config/agents.ts";
import { OpenClawError } from "../../core/error.ts";
import { subjectOf, withoutAdmin, type Subject } from "../../tool/subject.ts";
import { holdsScope } from "../../protocol/scope.ts";
import type { Client } from "../client.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import { runOnce } from "../run-once.ts";

export function toolMethods(context: GatewayContext): Served[] {
  const { catalog, callTool, store } = context;
  return [
    serve(methods.toolsCatalog)(async (params) => {
      await catalog.prepare();
      const subject = subjectOf(params, context.config());
      return {
        agentId: subject.agent,
        sessionKey: subject.session,
        agents: agentIds(context.config()),
        ...(subject.model === undefined ? {} : { model: subject.model }),
        tools: catalog.rows(subject),
      };
    }),
    serve(methods.toolsExplain)(async ({ tool, ...request }) => {
      await catalog.prepare(tool);
      const verdict = catalog.judge(subjectOf(request, context.config()), tool);
      return {
        decision: verdict.decision,
        ...(verdict.unavailable === undefined ? {} : { unavailable: verdict.unavailable }),
        ...(verdict.place === undefined ? {} : { place: verdict.place }),
        text: verdict.explain(),
      };
    }),
    serve(methods.toolsInvoke)(async ({ tool, args, idempotencyKey, ...request }, client, signal) => {
      const subject = within(client, subjectOf(request, context.config()));
      const call = async () => ({
        ok: true as const,
        result: await callTool({ tool, args, subject, caller: `ws:${client.info.id}`, signal }),
      });
      if (idempotencyKey === undefined) return call();
      return runOnce(context, `tools.invoke:${client.deviceId ?? client.info.id}`, idempotencyKey, call, inFlight);
    }),
    serve(methods.toolsJournal)(async ({ limit = 50, outcome, ...query }) => ({
      entries: await store.journal.list({
        ...query,
        limit,
        ...(outcome === undefined ? {} : { outcome }),
      }),
    })),
  ];
}

/** Without `operator.admin` a client calls tools without the rights of an administrator. */
function within({ scopes }: Client, subject: Subject): Subject {
  return holdsScope(scopes, "operator.admin") ? subject : withoutAdmin(subject);
}

function inFlight(): OpenClawError {
  return new OpenClawError(
    "tool.in-flight",
    "a call with this idempotencyKey is still running or ended without a result",
    { hint: "openclaw gateway call tools.journal" },
  );
}
