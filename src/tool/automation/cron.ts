// cron: jobs at set times and wake-ups. The jobs themselves load with the first use.
import { coerce } from "../../core/coerce.ts";
import { ToolError } from "../../core/error.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import type { CronAsker, CronChange, AgentCron } from "../../cron/agent-cron.ts";
import type { WakeMode } from "../../session/wake.ts";
import { callRemote, remoteUrl } from "../remote-gateway.ts";
import { defineTool, json, type ToolCall, type ToolResult } from "../tool.ts";

const actions = ["status", "list", "add", "update", "remove", "run", "runs", "wake"] as const;
const text = (description: string) => ({ type: "string", description });

/** Shown to the model; what a job may hold is checked where jobs are kept, for every caller alike. */
const jobShape = {
  type: "object",
  properties: {
    name: text("Short name."),
    schedule: {
      type: "object",
      description:
        'One of {kind:"at", at:"2030-01-31T08:00:00+01:00" or "20m"}, {kind:"every", everyMs:3600000}, {kind:"cron", expr:"30 8 * * 1-5", tz:"Europe/Berlin"}.',
    },
    payload: {
      type: "object",
      description:
        'One of {kind:"systemEvent", text} (a reminder: this session reads the line and takes a turn), {kind:"agentTurn", message, model?, thinking?, timeoutSeconds?} (a turn in a session of its own; message must hold everything it needs to know), {kind:"exec", command, workdir?, timeout?} (a shell command, no model), {kind:"tool", tool, args} (a tool call, no model).',
    },
    delivery: {
      type: "object",
      description:
        'Where the result goes: {mode:"announce"|"none", channel?, to?}. Default: announce in the session that made the job. Not for systemEvent.',
    },
    enabled: { type: "boolean", description: "Default true." },
    deleteAfterRun: { type: "boolean", description: "Default true for kind at, else false." },
    wakeMode: text('For systemEvent: "now" (default) or "next-heartbeat".'),
    misfire: { description: 'A time that was missed: "once" (default: run once later), "skip" or {windowMs}.' },
  },
};
/** Not shown: how the fields of a job are read that are sent as text, also those that stand beside its parts. */
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
const job = Type.Unsafe<Record<string, unknown>>({ ...jobShape, description: "add: the job." });
const patch = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  description: "update: fields of the job to change.",
});

const params = Type.Object(
  {
    action: Type.Enum([...actions], { type: "string" }),
    job: Type.Optional(job),
    jobId: Type.Optional(Type.String({ description: "update, remove, run, runs: id from list." })),
    patch: Type.Optional(patch),
    text: Type.Optional(Type.String({ description: "wake: the line this session is to read." })),
    mode: Type.Optional(
      Type.Enum(["now", "next-heartbeat", "force", "due"], {
        type: "string",
        description: "wake: now (default) or next-heartbeat. run: force (default) or due.",
      }),
    ),
    contextMessages: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10, description: "add, systemEvent: recent messages to quote; default 0." }),
    ),
    includeDisabled: Type.Optional(Type.Boolean({ description: "list: disabled jobs too; default false." })),
    slot: Type.Optional(Type.String({ description: "runs: show the output of this run; slot from runs." })),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: "runs with slot: lines to skip; default 0." })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5000,
        description: "runs: rows, default 20; with slot: lines, default 200.",
      }),
    ),
    gatewayUrl: Type.Optional(Type.String({ description: "Another gateway; needs gatewayToken." })),
    gatewayToken: Type.Optional(Type.String({ description: "Token of gatewayUrl." })),
    timeoutMs: Type.Optional(Type.Number({ description: "Milliseconds to wait for gatewayUrl; default 30000." })),
  },
  { additionalProperties: false },
);
const ownNames = new Set(Object.keys(params.properties));
type Arguments = Static<typeof params>;

export const createCronTool = (door: () => AgentCron) =>
  defineTool({
    name: "cron",
    summary: "Schedule reminders, agent turns and commands; wake this session",
    description:
      'Schedule and inspect jobs. A reminder: action add, job {name, schedule:{kind:"at", at:"20m"}, payload:{kind:"systemEvent", text:"Remind the user to …"}}. runs shows what became of each time of a job.',
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
      return perform(args, call, door());
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
      return change({ action: "add", job: args.job ?? {}, contextMessages: args.contextMessages ?? 0 }, asker, cron);
    case "update":
      return change({ action: "update", id: idOf(args), patch: args.patch ?? {} }, asker, cron);
    case "remove":
      return change({ action: "remove", id: idOf(args) }, asker, cron);
    case "run": {
      // The run may need the very session that asks for it: nobody waits for it here.
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
  const more = next < page.totalLines ? `; go on with offset ${next}` : "";
  const head = `[offset ${offset} to ${Math.min(next, page.totalLines) - 1} of ${page.totalLines}${more}]`;
  return { content: [{ type: "text", text: `${head}\n${page.text}` }], details: { jobId: args.jobId, slot, ...page } };
}

async function change(wish: CronChange, asker: CronAsker, cron: AgentCron): Promise<ToolResult> {
  const changed = await cron.change(wish, asker);
  if ("done" in changed) return json(changed.done);
  const { approvalId, expiresAtMs } = changed.waiting;
  const slug = approvalId.slice(0, 8);
  return {
    content: [
      {
        type: "text",
        text: `Waiting for the owner's approval: a job that stays needs it when the owner did not ask for it, or when it can do more than you (id ${slug}; /approve ${slug} allow-once|deny). Nothing has changed yet. The answer follows as a System line; do not ask again meanwhile.`,
      },
    ],
    details: { status: "approval-pending", approvalId, approvalSlug: slug, expiresAtMs, action: wish.action },
  };
}

async function wake({ text: line = "", mode }: Arguments, asker: CronAsker, cron: AgentCron): Promise<ToolResult> {
  if (line.trim() === "") throw bad("cron: wake needs text", "text: the line this session is to read");
  const when: WakeMode = oneOf(mode, ["now", "next-heartbeat"], "now");
  return json({ ok: true, mode: await cron.wake(asker, line, when) });
}

/** Fields of a job given flat become the job; `id` and `runMode` are other names that clients use. */
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
  throw bad(`cron: ${action} needs jobId`, "action list shows the ids");
}

function oneOf<T extends string>(given: string | undefined, known: readonly T[], fallback: T): T {
  const found = given === undefined ? fallback : known.find((name) => name === given);
  if (found !== undefined) return found;
  throw bad(`cron: mode must be one of ${known.join(", ")}`, "mode");
}

function bad(message: string, hint: string): ToolError {
  return new ToolError("tool.bad-arguments", message, { hint });
}
