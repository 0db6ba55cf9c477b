// cron: jobs at set times and wake-ups. A thin skin over the jobs, which load with the first use.
import { ToolError } from "../../core/error.ts";
import { checker, describeIssues, Type, type Static, type TObject } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import type { CronAsker, CronChange, CronDoor } from "../../cron/ask.ts";
import type { WakeMode } from "../../session/wake.ts";
import { callRemote, remoteUrl } from "../remote-gateway.ts";
import { defineTool, json, type ToolCall, type ToolResult } from "../tool.ts";

const actions = ["status", "list", "add", "update", "remove", "run", "runs", "wake", "help"] as const;
const word = Type.Optional(Type.String());
const fields = Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: "object" }));

const params = Type.Object(
  {
    action: Type.Enum([...actions], { type: "string" }),
    job: fields,
    jobId: word,
    patch: fields,
    more: fields,
  },
  { additionalProperties: false },
);

/** Seldom needed, so `help` tells of them and not the schema every model reads; callers give them beside `action`. */
const rare = checker(
  Type.Object(
    {
      text: word,
      includeDisabled: Type.Optional(Type.Boolean()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 5000 })),
      mode: word,
      gatewayUrl: word,
      gatewayToken: word,
      timeoutMs: Type.Optional(Type.Number()),
    },
    { additionalProperties: false },
  ),
);
type Rare = ReturnType<typeof rare.parse>;
const rareNames = Object.keys((rare.schema as TObject).properties);
const ownNames = ["action", "job", "jobId", "patch", "more"];
type Arguments = Omit<Static<typeof params>, "more"> & Rare;

export const createCronTool = (door: () => CronDoor) =>
  defineTool({
    name: "cron",
    summary: "Jobs at set times, reminders, wake-ups",
    description: "Ask action help first.",
    params,
    prepare: fold,
    intent: ({ action, job, jobId }) =>
      isLook(action)
        ? { does: "look" }
        : { does: "admin", what: visible(`cron ${action} ${jobId ?? nameOf(job)}`.trim(), 200) },
    async run({ more, ...plain }, call): Promise<ToolResult> {
      const args: Arguments = { ...plain, ...rareOf(more) };
      const { gatewayUrl, gatewayToken, timeoutMs, ...rest } = args;
      const url = remoteUrl(args, call);
      if (url !== undefined) return callRemote(url, { gatewayUrl, gatewayToken, timeoutMs }, "cron", rest, call);
      if (args.action === "help") return words((await import("./cron-help.ts")).help);
      return perform(args.action, args, call, door());
    },
  });

async function perform(
  action: Exclude<Arguments["action"], "help">,
  args: Arguments,
  call: ToolCall,
  cron: CronDoor,
): Promise<ToolResult> {
  const { agent, session, turn, sandboxed, asker: origin } = call;
  const asker: CronAsker = { agent, session, turn, sandboxed, allows: (tool) => call.allows(tool), origin };
  switch (action) {
    case "status":
      return json(await cron.status());
    case "list":
      return json({ jobs: await cron.list(asker, { includeDisabled: args.includeDisabled ?? false }) });
    case "add":
      return change({ action: "add", job: args.job ?? {} }, asker, cron);
    case "update":
      return change({ action: "update", id: idOf(args), patch: args.patch ?? {} }, asker, cron);
    case "remove":
      return change({ action: "remove", id: idOf(args) }, asker, cron);
    case "run": {
      // The run may need the very session that asks for it: nobody waits for it here.
      const { ended: _ended, ...answer } = await cron.run(
        asker,
        idOf(args),
        oneOf(args.mode, ["force", "due"], "force"),
      );
      return json(answer);
    }
    case "runs":
      return json({ entries: await cron.runs(asker, idOf(args), args.limit ?? 20) });
    case "wake":
      return wake(args, asker, cron);
  }
}

async function change(wish: CronChange, asker: CronAsker, cron: CronDoor): Promise<ToolResult> {
  const changed = await cron.change(wish, asker);
  if ("done" in changed) return json(changed.done);
  const { approvalId, expiresAtMs } = changed.waiting;
  const slug = approvalId.slice(0, 8);
  return {
    content: [
      {
        type: "text",
        text: `Waiting for the owner: work that stays needs their yes when it was not they who asked, or when it reaches further than you (id ${slug}; /approve ${slug} allow-once|deny). Nothing was changed. What comes of it follows as a System line; do not ask again meanwhile.`,
      },
    ],
    details: { status: "approval-pending", approvalId, approvalSlug: slug, expiresAtMs, action: wish.action },
  };
}

async function wake({ text = "", mode }: Arguments, asker: CronAsker, cron: CronDoor): Promise<ToolResult> {
  if (text.trim() === "") throw bad("cron: wake needs text", "text: what the session is to be told");
  const when: WakeMode = oneOf(mode, ["now", "next-heartbeat"], "now");
  return json({ ok: true, mode: await cron.wake(asker, text, when) });
}

/** Fields of a job given flat become the job; other spellings of its id. */
function fold(raw: Record<string, unknown>): Record<string, unknown> {
  const { id, more, ...given } = raw;
  const { action } = given;
  const isChange = action === "add" || action === "update";
  const whole = action === "add" ? "job" : "patch";
  const isFlat = (name: string): boolean =>
    isChange && !ownNames.includes(name) && (name === "text" || !rareNames.includes(name));
  const named = Object.entries(given).filter(([name]) => rareNames.includes(name) && !isFlat(name));
  const flat = Object.fromEntries(Object.entries(given).filter(([name]) => isFlat(name)));
  const rest = Object.entries(given).filter(([name]) => !rareNames.includes(name) && !isFlat(name));
  const gathered = typeof more === "object" ? { ...more, ...Object.fromEntries(named) } : Object.fromEntries(named);
  const beside = typeof given[whole] === "object" ? given[whole] : {};
  return {
    ...(id === undefined || action === "add" ? {} : { jobId: id }),
    ...Object.fromEntries(rest),
    ...(Object.keys(flat).length === 0 ? {} : { [whole]: { ...flat, ...beside } }),
    ...(more !== undefined && typeof more !== "object" ? { more } : {}),
    ...(Object.keys(gathered).length === 0 ? {} : { more: gathered }),
  };
}

function rareOf(more: unknown): Rare {
  if (more === undefined) return {};
  if (rare.is(more)) return more;
  throw bad(`cron: ${describeIssues(rare.issues(more).slice(0, 8))}`, "action help lists them");
}

function nameOf(job: Readonly<Record<string, unknown>> | undefined): string {
  return typeof job?.["name"] === "string" ? job["name"] : "";
}

const isLook = (action: Arguments["action"]): boolean =>
  action === "status" || action === "list" || action === "runs" || action === "help";

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

function words(text: string): ToolResult {
  return { content: [{ type: "text", text }] };
}
