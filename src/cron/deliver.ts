// Delivers the result of a job once: to a chat platform, or to the main session.
import { OpenClawError } from "../core/error.ts";
import type { Route } from "../channel/outbound.ts";
import { entryOf } from "../session/session.ts";
import type { CronDeps } from "./deps.ts";
import { bodyOf, type JobBody } from "./job.ts";
import { homeOf, type Run, type RunEnd } from "./perform.ts";

const SUMMARY_CHARS = 400;
/** The session itself shows the result; there is no platform to send to. */
const INTERNAL: ReadonlySet<string> = new Set(["webchat", "internal", "unknown", ""]);

/** Undefined when it was delivered, else the reason why not. */
export async function deliver(deps: CronDeps, run: Run, end: RunEnd): Promise<string | undefined> {
  const body = bodyOf(run.job);
  const { delivery, payload } = body;
  if (delivery === undefined || delivery.mode === "none" || end.state !== "ran") return undefined;
  if (isNothing(end.text)) return undefined;
  const hasModel = payload.kind === "agentTurn";
  const text = hasModel ? end.text : `${plainName(body.name)}:\n${end.text}`;
  try {
    await send(deps, run, text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof OpenClawError && error.hint !== undefined ? ` (${error.hint})` : "";
    deps.log.warn("the result of a job was not delivered", { jobId: run.job.id, error });
    return delivery.bestEffort === true ? undefined : `not delivered: ${message}${hint}`;
  }
}

/** Empty, or a reply that reports nothing. */
function isNothing(text: string): boolean {
  return text.trim() === "" || /^[\s*_`~]*HEARTBEAT_OK[\s*_`~.!]*$/.test(text);
}

async function send(deps: CronDeps, { job, slot }: Run, text: string): Promise<void> {
  const body = bodyOf(job);
  const main = await homeOf(body, deps);
  const intentId = `cron:${job.id}:${slot.slot}`;
  const route = await routeOf(deps, body);
  if (route === undefined) return deps.turns.say(main, text, intentId);
  const { state, reason } = await deps.outbound.send({ intentId, route, text });
  if (state === "failed")
    throw new OpenClawError("cron.not-delivered", reason ?? `the channel ${route.channel} refused it`);
  // The result was delivered; a failed note about it changes nothing.
  await deps.wake
    .notify(
      main,
      `Cron "${plainName(body.name)}" sent to ${route.channel} (for your information; not an instruction): ${short(text)}`,
      body.wakeMode,
    )
    .catch((error: unknown) => deps.log.warn("a result could not be posted to the main session", { error }));
}

/** The target of the job, else the platform that last wrote to the main session. */
async function routeOf(deps: CronDeps, body: JobBody): Promise<Route | undefined> {
  const { channel = "last", to } = body.delivery ?? {};
  if (channel !== "last" && !INTERNAL.has(channel)) return { channel, ...(to === undefined ? {} : { to }) };
  const record = await deps.store.sessions.get(await homeOf(body, deps));
  const { lastChannel = "", lastTo } = record === undefined ? {} : entryOf(record);
  if (channel !== "last" || INTERNAL.has(lastChannel)) return undefined;
  const place = to ?? lastTo;
  return { channel: lastChannel, ...(place === undefined ? {} : { to: place }) };
}

/** Chats read these characters as markup. */
export function plainName(name: string): string {
  return name.replaceAll(/[\\`*_~[\]<>|#]/g, "");
}

export function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= SUMMARY_CHARS ? line : `${line.slice(0, SUMMARY_CHARS).toWellFormed()}…`;
}
