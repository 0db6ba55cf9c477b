// The cron tool: schedules jobs and wakes the session. The cron engine loads on first use.
import { coerce } from "../../core/coerce.ts";
import { ToolError } from "../../core/error.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import type { CronAsker, CronChange, AgentCron } from "../../cron/agent-cron.ts";
import type { WakeMode } from "../../session/wake.ts";
import { callRemote, remoteParameters, remoteUrl } from "../remote-gateway.ts";
import { defineTool, json, type ToolCall, type ToolResult } from "../tool.ts";

const actions = ["status", "list", "add", "update", "remove", "run", "runs", "wake"] as const;
const text = (description: string) => ({ type: "string", description });

/** The common fields, for models. The cron engine checks whole jobs itself and accepts more, such as misfire. */
const job = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  description: "add: the job to create, with schedule and payload.",
  properties: {
    name: text("Short name."),
    schedule: {
      type: "object",
      description:
        "When it runs: {kind:'at', at:'20m' or '2030-01-31T08:00:00+01:00'}, {kind:'every', everyMs:3600000} or {kind:'cron', expr:'30 8 * * 1-5', tz:'Europe/Berlin'}.",
    },
    payload: {
      type: "object",
      description:
        "What it does: {kind:'systemEvent', text} posts a reminder to this session and starts a turn; {kind:'agentTurn', message, model?, thinking?, timeoutSeconds?} starts a turn in a new session that knows only message; {kind:'exec', command, workdir?, timeout?} runs a shell command and {kind:'tool', tool, args} calls a tool, both without a model.",
    },
    delivery: {
      type: "object",
      description:
        "Where the result goes: {mode:'announce', channel?, to?} or {mode:'none'} (default: announced in this session). Not for systemEvent.",
    },
    enabled: { type: "boolean", description: "Whether it is active (default true)." },
    deleteAfterRun: {
      type: "boolean",
      description: "Delete it after success (default: true for at only).",
    },
    wakeMode: text("systemEvent: start the turn now (default) or at the next-heartbeat."),
  },
});

/** Not shown to models: these fields accept text such as "60" for 60, also when they are not inside schedule or payload. */
const [number, flag] = [Type.Optional(Type.Number()), Type.Optional(Type.Boolean())];
const schedulePart = { everyMs: number, anchorMs: number };
const payloadPart = { timeoutSeconds: number, timeout: number, deliver: flag, bestEffortDeliver: flag };
const jobReading = Type.Object({
  ...schedulePart,
  ...payloadPart,
  enabled: flag,
  deleteAfterRun: flag,
  schedule: Type.Object(schedulePart),
  payload: Type.Object(payloadPart),
  delivery: Type.Object({ bestEffort: flag }),
  misfire: Type.Object({ windowMs: number }),
});

const params = Type.Object(
  {
    action: Type.Enum([...actions], {
      type: "string",
      description:
        "Operation. list: jobs with their ids. run: start a job now. runs: its past runs. wake: post text to this session.",
    }),
    job: Type.Optional(job),
    jobId: Type.Optional(Type.String({ description: "update, remove, run, runs: id from list." })),
    patch: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: "object",
        description: "update: fields of the job to change, such as {enabled:false}.",
      }),
    ),
    text: Type.Optional(Type.String({ description: "wake: text to post." })),
    mode: Type.Optional(
      Type.Enum(["now", "next-heartbeat", "force", "due"], {
        type: "string",
        description: "wake: now (default) or next-heartbeat. run: force (default), or due to run it only when due.",
      }),
    ),
    contextMessages: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: "add, systemEvent: recent messages to quote (default 0).",
      }),
    ),
    includeDisabled: Type.Optional(Type.Boolean({ description: "list: include disabled jobs (default false)." })),
    slot: Type.Optional(Type.String({ description: "runs: run whose output to show, by its slot." })),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: "runs with slot: lines to skip (default 0)." })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5000,
        description: "runs: maximum runs (default 20); with slot, lines (default 200).",
      }),
    ),
    ...remoteParameters,
  },
  { additionalProperties: false },
);
const ownNames = new Set(Object.keys(params.properties));
type Arguments = Static<typeof params>;

export const createCronTool = (cron: () => AgentCron) =>
  defineTool({
    name: "cron",
    summary: "Schedule reminders and recurring jobs",
    description:
      "Schedule, inspect and run jobs. For a reminder, add a job with a schedule of kind at and a payload of kind systemEvent.",
    params,
    unrecorded: ["gatewayToken"],
    prepare: fold,
    intent: ({ action, job: wanted, jobId }) =>
      isLook(action)
        ? { does: "look" }
        : { does: "admin", what: visible(`cron ${action} ${jobId ?? nameOf(wanted)}`.trim(), 200) },
    async run(args, call): Promise<ToolResult> {
      const { gatewayUrl, gatewayToken, timeoutMs, ...rest } = args;
      const url = remoteUrl(args, call);
      if (url !== undefined) return callRemote(url, { gatewayUrl, gatewayToken, timeoutMs }, "cron", rest, call);
      return perform(args, call, cron());
    },
  });

async function perform(args: Arguments, call: ToolCall, cron: AgentCron): Promise<ToolResult> {
  const { agent, session, turn, sandboxed, asker: origin } = call;
  const asker: CronAsker = { agent, session, turn, sandboxed, allows: (tool) => call.allows(tool), origin };
  switch (args.action) {
    case "status":
      return json(await cron.status());
    case "list":
      return json({ jobs: await cron.list(asker, { includeDisabled: args.includeDisabled ?? false }) });
    case "add":
      if (args.job === undefined) throw bad('cron: missing "job"', "add needs a job with schedule and payload");
      return change({ action: "add", job: args.job, contextMessages: args.contextMessages ?? 0 }, asker, cron);
    case "update":
      if (args.patch === undefined)
        throw bad('cron: missing "patch"', "update needs the fields to change, such as {enabled:false}");
      return change({ action: "update", id: idOf(args), patch: args.patch }, asker, cron);
    case "remove":
      return change({ action: "remove", id: idOf(args) }, asker, cron);
    case "run": {
      // The run may need the session that asks for it, so the call does not wait for its end.
      const mode = oneOf(args.mode, ["force", "due"], "force");
      const { ended: _ended, ...answer } = await cron.run(asker, idOf(args), mode);
      return json(answer);
    }
    case "runs":
      return runs(args, asker, cron);
    case "wake":
      return wake(args, asker, cron);
  }
}

async function runs(args: Arguments, asker: CronAsker, cron: AgentCron): Promise<ToolResult> {
  const { slot, offset = 0, limit } = args;
  if (slot === undefined) return json({ entries: await cron.runs(asker, idOf(args), limit ?? 20) });
  const page = await cron.output(asker, idOf(args), slot, { offset, limit: limit ?? 200 });
  const next = offset + page.text.split("\n").length;
  const more = next < page.totalLines ? `; continue with offset ${next}` : "";
  const head = `[offset ${offset} to ${Math.min(next, page.totalLines) - 1} of ${page.totalLines}${more}]`;
  return { content: [{ type: "text", text: `${head}\n${page.text}` }], details: { jobId: args.jobId, slot, ...page } };
}

async function change(request: CronChange, asker: CronAsker, cron: AgentCron): Promise<ToolResult> {
  const changed = await cron.change(request, asker);
  if ("done" in changed) return json(changed.done);
  const { approvalId, expiresAtMs } = changed.waiting;
  const slug = approvalId.slice(0, 8);
  return {
    content: [
      {
        type: "text",
        text: `Waiting for the owner's approval (id ${slug}; /approve ${slug} allow-once|deny): the owner did not ask for this job, or it can do more than you. Nothing has changed yet. The answer arrives as a System message; do not repeat the call.`,
      },
    ],
    details: { status: "approval-pending", approvalId, approvalSlug: slug, expiresAtMs, action: request.action },
  };
}

async function wake({ text: line = "", mode }: Arguments, asker: CronAsker, cron: AgentCron): Promise<ToolResult> {
  if (line.trim() === "") throw bad('cron: missing "text"', "wake: text is the line to post to this session");
  const when: WakeMode = oneOf(mode, ["now", "next-heartbeat"], "now");
  return json({ ok: true, mode: await cron.wake(asker, line, when) });
}

/** Job fields beside `job` become part of it; `id` and `runMode` are aliases that clients use. */
function fold(raw: Record<string, unknown>): Record<string, unknown> {
  const { id, runMode, ...given } = raw;
  const { action } = given;
  const whole = action === "add" ? "job" : action === "update" ? "patch" : undefined;
  const isFlat = (name: string): boolean => whole !== undefined && (name === "text" || !ownNames.has(name));
  const own = Object.entries(given).filter(([name]) => !isFlat(name));
  const flat = Object.entries(given).filter(([name]) => isFlat(name));
  const beside = whole === undefined ? undefined : given[whole];
  const isObject = beside === undefined || (typeof beside === "object" && !Array.isArray(beside));
  return {
    ...(id === undefined || action === "add" ? {} : { jobId: id }),
    ...(runMode === undefined ? {} : { mode: runMode }),
    ...Object.fromEntries(own),
    ...(whole === undefined || !isObject || (beside === undefined && flat.length === 0)
      ? {}
      : { [whole]: coerce(jobReading, { ...Object.fromEntries(flat), ...beside }) }),
  };
}

function nameOf(wanted: Readonly<Record<string, unknown>> | undefined): string {
  return typeof wanted?.["name"] === "string" ? wanted["name"] : "";
}

const isLook = (action: Arguments["action"]): boolean => action === "status" || action === "list" || action === "runs";

function idOf({ action, jobId }: Arguments): string {
  if (jobId !== undefined && jobId.trim() !== "") return jobId.trim();
  throw bad(`cron: missing "jobId"`, `${action} needs the id of a job; action=list shows the ids`);
}

function oneOf<T extends string>(given: string | undefined, known: readonly T[], fallback: T): T {
  const found = given === undefined ? fallback : known.find((name) => name === given);
  if (found !== undefined) return found;
  throw bad(
    `cron: "mode" must be one of ${known.join(", ")} here, not "${given ?? ""}"`,
    `mode: ${known.join(" or ")}`,
  );
}

function bad(message: string, hint: string): ToolError {
  return new ToolError("tool.bad-arguments", message, { hint });
}
