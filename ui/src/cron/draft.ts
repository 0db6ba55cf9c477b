// The draft of a new job: the fields of the form, their problems, and the job that is sent to the gateway.

export interface JobDraft {
  readonly name: string;
  readonly when: "at" | "every" | "cron";
  /** Local time without a zone, as browsers return it. */
  readonly at: string;
  readonly amount: string;
  readonly unit: keyof typeof unitMs;
  readonly expr: string;
  readonly tz: string;
  readonly what: "agentTurn" | "systemEvent" | "exec";
  readonly text: string;
  readonly agentId: string;
  readonly wakeMode: "now" | "next-heartbeat";
  readonly delivery: "announce" | "none";
  readonly channel: string;
  readonly to: string;
  /** Whether a job that runs once is kept after it succeeds. */
  readonly isKept: boolean;
}

export const unitMs = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

export const firstDraft: JobDraft = {
  name: "",
  when: "every",
  at: "",
  amount: "1",
  unit: "hours",
  expr: "",
  tz: "",
  what: "agentTurn",
  text: "",
  agentId: "",
  wakeMode: "now",
  delivery: "announce",
  channel: "",
  to: "",
  isKept: false,
};

export type Issues = ReadonlyMap<keyof JobDraft, string>;

/** Missing and malformed fields; the gateway validates the rest. */
export function issuesOf(draft: JobDraft): Issues {
  const issues = new Map<keyof JobDraft, string>();
  if (draft.when === "at" && Number.isNaN(Date.parse(draft.at))) issues.set("at", "Choose a date and a time.");
  if (draft.when === "every" && !(spanOf(draft) > 0)) issues.set("amount", "Enter a number above 0.");
  if (draft.when === "cron" && draft.expr.trim() === "") issues.set("expr", "Enter five fields, such as 0 7 * * 1-5.");
  if (draft.text.trim() === "") issues.set("text", textMissing[draft.what]);
  return issues;
}

/** The schedule alone, for a preview of its next runs; undefined while it is incomplete. */
export function scheduleOf(draft: JobDraft): Record<string, unknown> | undefined {
  const issues = issuesOf(draft);
  if (["at", "amount", "expr"].some((field) => issues.has(field as keyof JobDraft))) return undefined;
  if (draft.when === "at") return { kind: "at", at: new Date(draft.at).toISOString() };
  if (draft.when === "every") return { kind: "every", everyMs: spanOf(draft) };
  return { kind: "cron", expr: draft.expr.trim(), ...given("tz", draft.tz) };
}

/** Only for drafts without issues. */
export function toJob(draft: JobDraft): Record<string, unknown> {
  const isMain = draft.what === "systemEvent";
  return {
    ...given("name", draft.name),
    ...given("agentId", draft.agentId),
    schedule: scheduleOf(draft),
    ...(draft.when === "at" && draft.isKept ? { deleteAfterRun: false } : {}),
    sessionTarget: isMain ? "main" : "isolated",
    ...(isMain ? { wakeMode: draft.wakeMode } : { delivery: deliveryOf(draft) }),
    payload: { kind: draft.what, [textKeys[draft.what]]: draft.text },
  };
}

function deliveryOf({ delivery, channel, to }: JobDraft): Record<string, unknown> {
  return delivery === "none"
    ? { mode: "none" }
    : { mode: "announce", ...given("channel", channel), ...given("to", to) };
}

function given(key: string, value: string): Record<string, string> {
  return value.trim() === "" ? {} : { [key]: value.trim() };
}

const spanOf = ({ amount, unit }: JobDraft): number =>
  Math.round(Number(amount.trim().replace(",", ".")) * unitMs[unit]);

const textKeys = { agentTurn: "message", systemEvent: "text", exec: "command" } as const;
const textMissing = {
  agentTurn: "Enter what the agent should do.",
  systemEvent: "Enter the note.",
  exec: "Enter a command.",
} as const;
