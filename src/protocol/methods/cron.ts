// Jobs at set times over the wire. What a job may hold is judged where jobs are kept, so that every door judges alike.
import { Type } from "../../core/schema.ts";
import { closed, looseMethod, maybe, method, none, word } from "../method.ts";

const named = { id: maybe(word), jobId: maybe(word) };
const open = Type.Unsafe<Record<string, unknown>>({ type: "object" });

export const cronStatus = method("cron.status", "operator.read", none);
export const cronList = method(
  "cron.list",
  "operator.read",
  Type.Object({ includeDisabled: maybe(Type.Boolean()) }, closed),
);
export const cronAdd = looseMethod("cron.add", "operator.admin");
export const cronUpdate = method("cron.update", "operator.admin", Type.Object({ ...named, patch: open }, closed));
export const cronRemove = method("cron.remove", "operator.admin", Type.Object(named, closed));
export const cronRun = method(
  "cron.run",
  "operator.admin",
  Type.Object({ ...named, mode: maybe(Type.Union([Type.Literal("force"), Type.Literal("due")])) }, closed),
);
export const cronRuns = method(
  "cron.runs",
  "operator.read",
  Type.Object(
    {
      ...named,
      limit: maybe(Type.Integer({ minimum: 1, maximum: 5000 })),
      /** Ours: the output of one run instead of the rows. */
      slot: maybe(word),
      offset: maybe(Type.Integer({ minimum: 0 })),
    },
    closed,
  ),
);
/** Ours: what a job would do, before it is kept. */
export const cronPreview = method(
  "cron.preview",
  "operator.read",
  Type.Object({ ...named, job: maybe(open), count: maybe(Type.Integer({ minimum: 1, maximum: 100 })) }, closed),
  { announced: false },
);
