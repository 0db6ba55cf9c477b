// Models: what can be named, what was found on this machine, a test with one click, and which one to use.
import { Type } from "../../core/schema.ts";
import { closed, looseMethod, maybe, method, none, word } from "../method.ts";

export const modelsList = method("models.list", "operator.read", none);
/** Ours: keys of the environment and servers on loopback (ruling 26). */
export const modelsScan = method("models.scan", "operator.admin", none);
/** Ours: one tiny request. */
export const modelsTest = method("models.test", "operator.admin", Type.Object({ provider: word, model: word }, closed));
/** Ours: makes it the default model in the config. */
export const modelsUse = method(
  "models.use",
  "operator.admin",
  Type.Object({ provider: word, model: word, baseUrl: maybe(word) }, closed),
);
export const usageStatus = looseMethod("usage.status", "operator.read");
export const usageCost = looseMethod("usage.cost", "operator.read");
const day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
/** What each session used, over a range of days. */
export const sessionsUsage = method(
  "sessions.usage",
  "operator.admin",
  Type.Object(
    {
      key: maybe(word),
      startDate: maybe(day),
      endDate: maybe(day),
      limit: maybe(Type.Integer({ minimum: 1 })),
      includeContextWeight: maybe(Type.Boolean()),
    },
    closed,
  ),
  { announced: false },
);
/** Unknown fields are ignored, as recorded. */
const ofSession = Type.Object({ key: maybe(word), limit: maybe(Type.Integer({ minimum: 1 })) });
export const sessionsUsageTimeseries = method("sessions.usage.timeseries", "operator.admin", ofSession, {
  announced: false,
});
export const sessionsUsageLogs = method("sessions.usage.logs", "operator.admin", ofSession, { announced: false });
