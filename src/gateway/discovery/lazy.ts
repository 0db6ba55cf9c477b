// Starts the announcement after the gateway has started, and only where the network can reach it.
import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import type { Binding } from "../bind.ts";
import type { Announcer } from "./announce.ts";

export interface AnnounceOptions {
  readonly env: Env;
  readonly log: Log;
  readonly binding: Binding;
  readonly port: number;
}

export function announceLater(config: Config, options: AnnounceOptions): Announcer {
  const started = isWanted(config, options) ? start(config, options) : undefined;
  return {
    async close() {
      await (await started)?.close();
    },
  };
}

function isWanted(config: Config, { env, binding }: AnnounceOptions): boolean {
  const isOff = config.discovery?.mdns?.mode === "off" || env["OPENCLAW_DISABLE_BONJOUR"] === "1";
  // Who names an interface wants the announcement there.
  const isNamed = env["OPENCLAW_MDNS_INTERFACE"] !== undefined;
  return !isOff && (isNamed || binding.hosts.some((host) => !host.startsWith("127.") && host !== "::1"));
}

/** The gateway works without it, so a failure is only reported. */
async function start(config: Config, { env, log, port }: AnnounceOptions): Promise<Announcer | undefined> {
  try {
    const [{ announce, serviceOf }, { interfacesOf }] = await Promise.all([
      import("./announce.ts"),
      import("./multicast.ts"),
    ]);
    const service = serviceOf(config, { port, cliPath: process.argv[1] ?? "openclaw" });
    return await announce(service, interfacesOf(env), log);
  } catch (error) {
    log.warn(`the gateway is not announced: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
