// Commands that wait for a person: asked durably, started at most once, and their session told what came of it.
import { OpenClawError, ToolError } from "../core/error.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { alwaysCovers } from "./policy/always.ts";
import type { Approval } from "../approval/record.ts";
import { verifyPlan } from "./policy/freeze.ts";
import { describePlan } from "./policy/preview.ts";
import { addEntries } from "./policy/remember.ts";
import type { ApprovedRuns, ExecDeps, Follow, PendingRun } from "./exec-context.ts";
import { isHeadless } from "./exec-request.ts";
import { rememberedOnNode } from "./node-always.ts";
import type { NodeJob } from "./node-command.ts";
import { deniedNotice, endOf, TAIL_CHARS, type Finished } from "./result.ts";
import { startPinned } from "./start-plan.ts";

export function createApprovedRuns(deps: ExecDeps, follow: Follow): ApprovedRuns {
  const { broker, log } = deps;
  const guarded = (work: Promise<void>, id: string): void => {
    work.catch((error: unknown) => log.error("an approved command could not be followed", { id, error }));
  };
  const unwatch = broker.watch({
    resolved: (approval) => {
      if (isOwnRequest(approval)) guarded(resolved(deps, follow, approval), approval.id);
    },
    lapsed: (approval) => {
      if (isOwnRequest(approval))
        guarded(notifyDenied(deps, approval, approval.reason ?? "not started in time"), approval.id);
    },
    interrupted: (approval) => {
      if (isOwnRequest(approval))
        guarded(
          deps.notify(sessionOf(approval), `Exec unknown (${nameOf(approval)}): ${approval.reason ?? "interrupted"}`),
          approval.id,
        );
    },
  });
  return {
    async ask(request, body) {
      const { args, call, route, warnings, runId } = request;
      if (isHeadless(call.session)) throw cannotAsk(call.agent);
      const host = body.on;
      const cwd = body.on === "gateway" ? body.plan.cwd.path : body.job.cwd;
      const approval = await broker.ask({
        id: runId,
        kind: body.on === "gateway" ? "exec" : "node",
        agent: call.agent,
        session: call.session,
        body,
        asker: await call.asker?.(),
        card: body.on === "gateway" ? describePlan(body.plan) : nodeCard(body.job),
        request: {
          command: args.command,
          cwd: cwd ?? null,
          host,
          security: route.security,
          ask: route.ask,
          resolvedPath: body.on === "gateway" ? (body.plan.segments[0]?.program.path ?? null) : null,
        },
      });
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
        text: `Waiting for a person to approve this (id ${slug}; /approve ${slug} allow-once|allow-always|deny). It has not run. What comes of it follows as a System line; do not run it again meanwhile.`,
      };
    },
    close: unwatch,
  };
}

function cannotAsk(agent: AgentId): ToolError {
  return new ToolError("exec.denied", "not run: it needs a person's yes, and nobody waits beside a job", {
    hint: `openclaw approvals allowlist add <program> --agent ${agent}`,
    details: { refused: true },
  });
}

/** Only what this engine asked for: a client's own request over the wire is answered to that client. */
function isOwnRequest({ kind, origin }: Approval): boolean {
  return origin === "house" && (kind === "exec" || kind === "node");
}

const sessionOf = ({ session }: Approval): SessionKey => session as SessionKey;
const nameOf = ({ kind, id }: Approval): string => `${kind === "node" ? "node" : "gateway"} id=${id}`;

async function resolved(deps: ExecDeps, follow: Follow, approval: Approval): Promise<void> {
  const { id, state, agent, session } = approval;
  if (state !== "allowed") {
    const why = state === "expired" ? "approval timed out" : (approval.reason ?? "denied by the owner");
    return notifyDenied(deps, approval, why);
  }
  if (!(await deps.broker.begin(id, { agent, session }))) return;
  const outcome = await attempt(deps, follow, approval);
  await deps.broker.finish(id, outcome);
}

/** Begun: from here on there is exactly one line for the session, whatever happens. */
async function attempt(deps: ExecDeps, follow: Follow, approval: Approval): Promise<string> {
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

async function onGateway(
  deps: ExecDeps,
  follow: Follow,
  approval: Approval,
  body: Extract<PendingRun, { on: "gateway" }>,
): Promise<Finished> {
  const { plan, timeoutMs, tty, noticeMs } = body;
  await verifyPlan(plan);
  const isAlways = approval.decision === "allow-always";
  const remembered = isAlways ? addEntries(deps.stateDir, plan.agent, alwaysCovers(plan).entries) : [];
  const running = await startPinned(deps, plan, { tty, timeoutMs });
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

async function onNode(
  deps: ExecDeps,
  approval: Approval,
  { job, noticeMs }: Extract<PendingRun, { on: "node" }>,
): Promise<Finished> {
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
  // Masked before it is cut: half a secret no mask would know.
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
