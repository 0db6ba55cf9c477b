// What the web tools need from the gateway.
import type { Clock } from "../../base/clock.ts";
import type { Env } from "../../base/paths.ts";
import type { Extraction } from "../../media/extract/extract.ts";
import type { Guard } from "../../media/guard/guard.ts";

export interface WebDeps {
  readonly guard: Guard;
  readonly extraction: Extraction;
  readonly clock: Clock;
  /** The environment with the variables of the config, for keys of services. */
  readonly serviceEnv: () => Env;
}
