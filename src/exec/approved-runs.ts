// Commands that wait for approval: their cards, their start once allowed, and the notice of the outcome to the session.
import { OpenClawError, ToolError } from "../core/error.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { alwaysCovers } from "./policy/always.ts";
import type { Approval } from "../approval/record.ts";
import type { AskRequest } from "../approval/transitions.ts";
import { verifyPlan } from "./policy/freeze.ts";
import { describePlan } from "./policy/preview.ts";
import { addEntries } from "./policy/remember.ts";
import type { ApprovedRuns, ExecDeps, Follow, PendingHostRun, PendingNodeRun, PendingRun } from "./exec-context.ts";
import { isHeadless, type ExecCall, wantsInput } from "./exec-request.ts";
import { rememberedOnNode } from "./node-always.ts";
import type { NodeJob } from "./node-command.ts";
import { deniedNotice, endOf, TAIL_CHARS, type Finished } from "./result.ts";
import { startPinned } from "./start-plan.ts";

/** `recheck` judges a stored command again, as if the call requested it now. */
export function createApprovedRuns(
  deps: ExecDeps,
  follow: Follow,
  recheck: (run: PendingRun, call: ExecCall) => Promise<void>,
): ApprovedRuns {
  const shared = {
    canAllowAlways: true,
    async recheck({ asker, body }: Approval): Promise<void> {
      await recheck(body as PendingRun, await deps.recallCall(asker));
    },
    run: (approval: Approval) => run(deps, follow, approval),
    denied: (approval: Approval) => notifyDenied(deps, approval, whyDenied(approval)),
    interrupted: (approval: Approval) =>
      deps.notify(sessionOf(approval), `Exec unknown (${nameOf(approval)}): ${approval.reason ?? "interrupted"}`),
  };
  const handlers: ApprovedRuns["handlers"] = {
    exec: { ...shared, name: "exec", kind: "exec", card: ({ plan }) => describePlan(plan) },
    node: { ...shared, name: "node", kind: "node", card: ({ job }) => nodeCard(job) },
  };
  return {
    handlers,
    async ask(request, body) {
      const { args, call, route, warnings, runId } = request;
      if (isHeadless(call.session)) throw cannotAsk(call.agent);
      const host = body.on;
      const cwd = body.on === "gateway" ? body.plan.cwd.path : body.job.cwd;
      const asked: AskRequest = {
        id: runId,
        agent: call.agent,
        session: call.session,
        body,
        asker: await call.asker?.(),
        request: {
          command: args.command,
          cwd: cwd ?? null,
          host,
          security: route.security,
          ask: route.ask,
          resolvedPath: body.on === "gateway" ? (body.plan.segments[0]?.program.path ?? null) : null,
        },
      };
      const approval = await (body.on === "gateway"
        ? deps.broker.ask(handlers.exec, body, asked)
        : deps.broker.ask(handlers.node, body, asked));
      const slug = approval.id.slice(0, 8);
      return {
        details: {
          status: "approval-pending",
          approvalId: approval.id,
          approvalSlug: slug,
          expiresAtMs: approval.expiresAtMs,
          host,
          command: args.command,
          ...(cwd === undefined ? {} : { cwd }),
          ...(body.on === "node" ? { nodeId: body.job.nodeId } : {}),
        },
        warnings,
        text: `Approval required (id ${slug}): the command has not run yet. The owner can answer with /approve ${slug} allow-once|allow-always|deny. The result arrives as a System message; do not run the command again.`,
      };
    },
  };
}

function cannotAsk(agent: AgentId): ToolError {
  return new ToolError(
    "exec.denied",
    "exec denied: the command needs approval, and a scheduled job cannot wait for one",
    {
      hint: `allow the program beforehand: openclaw approvals allowlist add <program> --agent ${agent}`,
      details: { refused: true },
    },
  );
}

const sessionOf = ({ session }: Approval): SessionKey => session as SessionKey;
const nameOf = ({ kind, id }: Approval): string => `${kind === "node" ? "node" : "gateway"} id=${id}`;

function whyDenied({ state, reason }: Approval): string {
  return state === "expired" ? "approval timed out" : (reason ?? "denied by the owner");
}

/** Sends exactly one notice to the session, whatever happens. */
async function run(deps: ExecDeps, follow: Follow, approval: Approval): Promise<string> {
  const body = approval.body as PendingRun;
  try {
    const finished =
      body.on === "gateway" ? await onGateway(deps, follow, approval, body) : await onNode(deps, approval, body);
    const tail = deps.mask(finished.aggregated).slice(-TAIL_CHARS).trim();
    const line = `Exec finished (${nameOf(approval)}, ${endOf(finished.exit).replace("code ", "code=")})`;
    await deps.notify(sessionOf(approval), tail === "" ? line : `${line}\n${tail}`);
    return endOf(finished.exit);
  } catch (error) {
    if (!(error instanceof OpenClawError)) {
      await deps.notify(sessionOf(approval), `Exec unknown (${nameOf(approval)}): it failed unexpectedly`);
      throw error;
    }
    await notifyDenied(deps, approval, error.message.split("\n")[0] ?? error.code);
    return error.message;
  }
}

async function onGateway(deps: ExecDeps, follow: Follow, approval: Approval, body: PendingHostRun): Promise<Finished> {
  const { plan, timeoutMs, tty, noticeMs } = body;
  await verifyPlan(plan);
  const isAlways = approval.decision === "allow-always";
  const remembered = isAlways ? addEntries(deps.stateDir, plan.agent, alwaysCovers(plan).entries) : [];
  const running = await startPinned(deps, plan, { tty, hasInput: wantsInput(body.args), timeoutMs });
  deps.noteUse(remembered, plan);
  const owner = {
    agent: plan.agent as AgentId,
    session: sessionOf(approval),
    command: plan.command,
    cwd: plan.cwd.path,
  };
  return follow.afterApproval(running, owner, {
    timeoutMs,
    noticeMs,
    text: (name) => `Exec running (${nameOf(approval)}, process ${name})`,
  });
}

async function onNode(deps: ExecDeps, approval: Approval, { job, noticeMs }: PendingNodeRun): Promise<Finished> {
  const notice = setTimeout(
    () => void deps.notify(sessionOf(approval), `Exec running (${nameOf(approval)}, node ${job.nodeName})`),
    noticeMs,
  );
  if (noticeMs === 0) clearTimeout(notice);
  try {
    const decision = approval.decision === "allow-always" ? "allow-always" : "allow-once";
    const outcome = await deps.nodes.run(job, { by: "person", decision });
    if (outcome.kind === "finished") return outcome.finished;
    throw new OpenClawError("exec.denied", outcome.reason);
  } finally {
    clearTimeout(notice);
  }
}

async function notifyDenied(deps: ExecDeps, approval: Approval, why: string): Promise<void> {
  const [host = "gateway", id = approval.id] = nameOf(approval).split(" id=");
  // Redacted before it is cut, because half of a secret would not be recognized.
  await deps.notify(sessionOf(approval), deniedNotice(host, id, why, deps.mask.command(approval.request.command)));
}

function nodeCard(job: NodeJob): ReturnType<typeof describePlan> {
  const remembered = rememberedOnNode(job.command);
  return {
    title: "Run a command on a node",
    text: job.command,
    rows: [
      { label: "node", value: `${job.nodeName} (${job.nodeId.slice(0, 12)}, ${job.platform})` },
      { label: "program", value: job.argv[0] ?? "" },
      ...(job.cwd === undefined ? [] : [{ label: "folder", value: job.cwd }]),
      ...Object.entries(job.env).map(([name, value]) => ({ label: "variable", value: `${name}=${value}` })),
      { label: "agent", value: job.agent },
      { label: "session", value: job.session },
    ],
    ...(remembered === undefined ? {} : { always: `${remembered} with any arguments, on that node` }),
  };
}
