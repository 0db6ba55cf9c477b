// Opens cron for a runtime: the engine loads with the first job or the first request.
import { existsSync } from "node:fs";
import { join } from "node:path";

import { forwardTo, lazy } from "../base/lazy.ts";
import { expandHome } from "../base/paths.ts";
import type { AgentCron } from "../cron/agent-cron.ts";
import type { Cron } from "../cron/cron.ts";
import type { CronPorts, CronRuntime } from "./cron-engine.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenCron {
  readonly cron: Cron;
  /** The same jobs with the rights of an agent. */
  readonly agentCron: AgentCron;
  /** Call after clients can connect: jobs may be due, and runs may have been left open. */
  start(): Promise<void>;
  /** Applies a changed config. */
  reload(): void;
  /** Starts no more runs. Call before the agents close. */
  stop(): void;
  /** Waits until runs have stored their end. Call after the agents closed. */
  close(): Promise<void>;
}

export function openCron(runtime: Runtime, ports: CronPorts): OpenCron {
  const log = runtime.log.child("cron");
  const { env, paths, store } = runtime;
  const config = () => runtime.settings.now().config;
  const olderFile = (): string => {
    const { store: file } = config().cron ?? {};
    return file === undefined ? join(paths.state, "cron", "jobs.json") : expandHome(file, paths.home);
  };
  let isStopped = false;
  let answersDone: Promise<void> | undefined;
  const opening = lazy<CronRuntime>(async () => {
    const { openCronRuntime } = await import("./cron-engine.ts");
    const opened = openCronRuntime(runtime, { ...ports, log, olderFile: olderFile(), isSkipped: isSkipped(env) });
    try {
      if (!isStopped) await opened.engine.start();
      return opened;
    } catch (error) {
      // The next use opens another engine, so this one must not keep running.
      opened.engine.stop();
      await opened.engine.close();
      throw error;
    }
  });
  const engine = opening.get;
  const unregister = runtime.commands.broker.register("cron", async () => (await engine()).requests.approvals);
  const jobs = async (): Promise<Cron> => (await engine()).engine;
  const requests = async (): Promise<AgentCron> => (await engine()).requests;
  const cron: Cron = forwardTo(
    jobs,
    "status",
    "list",
    "get",
    "add",
    "update",
    "remove",
    "run",
    "runs",
    "output",
    "preview",
  );
  const agentCron: AgentCron = forwardTo(requests, "status", "list", "run", "runs", "output", "change", "wake");
  return {
    cron,
    agentCron,
    async start() {
      const { nextAt, running } = await store.jobs.outlook();
      if (nextAt === undefined && running === 0 && !existsSync(olderFile())) return;
      engine().catch((error: unknown) => log.error("cron: the scheduler could not start", { error }));
    },
    reload() {
      opening
        .opened()
        .then((opened) => opened?.engine.reload())
        .catch((error: unknown) => log.error("cron", { error }));
    },
    stop() {
      isStopped = true;
      answersDone = unregister();
      opening
        .opened()
        .then((opened) => opened?.engine.stop())
        .catch((error: unknown) => log.error("cron", { error }));
    },
    async close() {
      const opened = await opening.opened();
      await answersDone;
      await opened?.engine.close();
    },
  };
}

function isSkipped(env: Runtime["env"]): boolean {
  const word = env["OPENCLAW_SKIP_CRON"];
  return word !== undefined && word !== "" && word !== "0" && word !== "false";
}
