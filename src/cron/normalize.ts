// Converts the spellings that callers use into one form: unwraps, infers kinds, moves older keys. Checks nothing.
import { isRecord } from "../core/record.ts";
import { durationMs } from "../base/duration.ts";

export type Raw = Readonly<Record<string, unknown>>;

/** For `add`, with defaults. `check.ts` checks the values. */
export function normalizeJob(input: unknown): Raw {
  const raw = normalizePatch(input);
  const payload = isRecord(raw["payload"]) ? raw["payload"] : undefined;
  const target = raw["sessionTarget"] ?? (payload?.["kind"] === "systemEvent" ? "main" : "isolated");
  return {
    ...raw,
    enabled: raw["enabled"] ?? true,
    wakeMode: raw["wakeMode"] ?? "now",
    sessionTarget: target,
    ...(raw["delivery"] === undefined && target === "isolated" ? { delivery: { mode: "announce" } } : {}),
  };
}

/** For `update`: only the given fields. */
export function normalizePatch(input: unknown): Raw {
  const raw = unwrapped(input);
  const { schedule, payload, delivery, rest } = takeApart(raw);
  return {
    ...rest,
    ...(schedule === undefined ? {} : { schedule }),
    ...(payload === undefined ? {} : { payload }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** Unwraps `{data: {…}}` and `{job: {…}}`. */
function unwrapped(input: unknown): Raw {
  let raw = isRecord(input) ? input : {};
  for (let depth = 0; depth < 3; depth++) {
    const inner = [raw["data"], raw["job"]].find((value) => isRecord(value));
    if (!isRecord(inner)) break;
    const { data: _data, job: _job, ...beside } = raw;
    raw = { ...beside, ...inner };
  }
  return raw;
}

const scheduleKeys = ["at", "atMs", "every", "everyMs", "anchorMs", "expr", "cron", "tz"];
const payloadKeys = [
  "text",
  "message",
  "model",
  "thinking",
  "timeoutSeconds",
  "toolsAllow",
  "command",
  "workdir",
  "tool",
  "args",
];
const deliveryKeys = ["deliver", "channel", "provider", "to", "bestEffortDeliver"];
/** Known keys that are ignored: the server's own fields, and a request for trust that is never granted. */
const droppedKeys = ["id", "jobId", "createdAtMs", "updatedAtMs", "state", "allowUnsafeExternalContent"];

function takeApart(raw: Raw): { schedule?: unknown; payload?: unknown; delivery?: unknown; rest: Raw } {
  const flat = new Set([...scheduleKeys, ...payloadKeys, ...deliveryKeys, ...droppedKeys]);
  const rest = Object.fromEntries(
    Object.entries(raw).filter(([key]) => !flat.has(key) && !["schedule", "payload", "delivery"].includes(key)),
  );
  const { payload, delivery: older } = payloadOf(raw["payload"], pick(raw, payloadKeys));
  return {
    schedule: scheduleOf(raw["schedule"], pick(raw, scheduleKeys)),
    payload,
    delivery: deliveryOf(raw["delivery"], { ...older, ...pick(raw, deliveryKeys) }),
    rest,
  };
}

function scheduleOf(given: unknown, flat: Raw): unknown {
  if (given === undefined && Object.keys(flat).length === 0) return undefined;
  if (given !== undefined && !isRecord(given)) return given;
  const { atMs, every, cron, ...raw } = { ...flat, ...given };
  const at = raw["at"] ?? atMs;
  const everyMs = raw["everyMs"] ?? (typeof every === "string" ? durationMs(every) : every);
  const expr = raw["expr"] ?? cron;
  const kind = kindOf(raw["kind"], [
    ["at", at],
    ["every", everyMs],
    ["cron", expr],
  ]);
  return {
    ...raw,
    kind,
    ...(at === undefined ? {} : { at }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(expr === undefined ? {} : { expr }),
  };
}

/** Older payloads hold the target of the delivery. */
function payloadOf(given: unknown, flat: Raw): { payload?: unknown; delivery: Raw } {
  if (given === undefined && Object.keys(flat).length === 0) return { delivery: {} };
  if (given !== undefined && !isRecord(given)) return { payload: given, delivery: {} };
  const raw = { ...flat, ...given };
  const kind = kindOf(raw["kind"], [
    ["agentTurn", raw["message"]],
    ["systemEvent", raw["text"]],
    ["exec", raw["command"]],
    ["tool", raw["tool"]],
  ]);
  const dropped = new Set([...deliveryKeys, "allowUnsafeExternalContent"]);
  const payload = Object.fromEntries(Object.entries(raw).filter(([key]) => !dropped.has(key)));
  return { payload: kind === undefined ? payload : { ...payload, kind }, delivery: pick(raw, deliveryKeys) };
}

function deliveryOf(given: unknown, older: Raw): unknown {
  if (given !== undefined && !isRecord(given)) return given;
  if (given === undefined && Object.keys(older).length === 0) return undefined;
  const { deliver, channel = older["provider"], to, bestEffortDeliver: bestEffort } = older;
  const mode = deliver === false ? { mode: "none" } : deliver === true ? { mode: "announce" } : {};
  return {
    ...mode,
    ...(channel === undefined ? {} : { channel }),
    ...(to === undefined ? {} : { to }),
    ...(bestEffort === undefined ? {} : { bestEffort }),
    ...given,
  };
}

const kinds = ["at", "every", "cron", "systemEvent", "agentTurn", "exec", "tool"];

/** The given kind in any case, else the kind that has one of the given fields. */
function kindOf(given: unknown, signs: readonly (readonly [string, unknown])[]): unknown {
  if (typeof given === "string") return kinds.find((kind) => kind.toLowerCase() === given.toLowerCase()) ?? given;
  return given ?? signs.find(([, value]) => value !== undefined)?.[0];
}

function pick(raw: Raw, keys: readonly string[]): Raw {
  return Object.fromEntries(keys.flatMap((key) => (raw[key] === undefined ? [] : [[key, raw[key]]])));
}
