// Rejects container settings that would be read as options or would open the sandbox.
import { OpenClawError } from "../../core/error.ts";
import type { ContainerSettings } from "../sandbox-settings.ts";
import { limitsOf, softAndHard } from "./limits.ts";

/** Checked for every backend, because a setting that one backend ignores applies when the other is used. */
export function checkContainer(container: ContainerSettings): void {
  const { image, containerPrefix, network, user, workdir, seccompProfile, apparmorProfile } = container;
  require("image", image, /^[a-z0-9][a-z0-9._/:@-]*$/i);
  require("containerPrefix", containerPrefix, /^[a-z0-9][a-z0-9_.-]*$/i);
  require("workdir", workdir, /^\/[^/\0:,][^\0:,]*$/);
  require("network", network, /^[a-z0-9][a-z0-9_.-]*$/i);
  if (/^(host|container|ns)$/i.test(network))
    throw refuse("network", network, "it would share another network namespace");
  if (user !== undefined) require("user", user, /^[a-z0-9_][a-z0-9_.-]*(:[a-z0-9_][a-z0-9_.-]*)?$/i);
  if (seccompProfile !== undefined) {
    require("seccompProfile", seccompProfile, /^\/[^\0]*$/);
  }
  if (apparmorProfile !== undefined) {
    require("apparmorProfile", apparmorProfile, /^[a-z0-9][a-z0-9_./-]*$/i);
    if (/^unconfined$/i.test(apparmorProfile))
      throw refuse("apparmorProfile", apparmorProfile, "it removes protection");
  }
  for (const capability of container.capDrop) require("capDrop", capability, /^[a-z_]+$/i);
  for (const place of container.tmpfs) require("tmpfs", place, /^\/[^/\0:,][^\0:,]*(:[a-z0-9=,]+)?$/);
  for (const server of container.dns) require("dns", server, /^[0-9a-f.:]+$/i);
  for (const host of container.extraHosts) require("extraHosts", host, /^[a-z0-9][a-z0-9_.-]*:[0-9a-z.:-]+$/i);
  for (const [name, value] of Object.entries(container.env)) {
    require("env", name, /^[a-z_][a-z0-9_]*$/i);
    if (value.includes("\0")) throw refuse("env", name, "its value contains a NUL character");
  }
  for (const [name, limit] of Object.entries(container.ulimits)) {
    require("ulimits", name, /^[a-z]+$/);
    softAndHard(name, limit);
  }
  limitsOf(container);
}

function require(key: string, value: string, pattern: RegExp): void {
  if (!pattern.test(value)) throw refuse(key, value, "the value has an invalid format");
}

function refuse(key: string, value: string, why: string): OpenClawError {
  return new OpenClawError(
    "sandbox.refused",
    `sandbox.docker.${key} cannot be ${JSON.stringify(value.slice(0, 120))}: ${why}`,
    {
      hint: `correct it, or remove it: openclaw config unset agents.defaults.sandbox.docker.${key}`,
    },
  );
}
