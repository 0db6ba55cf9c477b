// Checks whether tools run in a sandbox, whether it can start, and which settings weaken it.
import { dirname, resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentConfig } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import { at, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { reachOf, type Reach } from "./reach.ts";

type Sandbox = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;

export async function checkSandbox(context: AuditContext): Promise<Finding[]> {
  const reach = reachOf(context.loaded.config);
  return [
    ...offFindings(context, reach),
    ...(reach.some(({ mode }) => mode !== "off") ? await workingFindings(context) : []),
    ...scopesOf(context.loaded.config).flatMap(([path, sandbox]) => [
      ...containerFindings(context, path, sandbox),
      ...capabilityFindings(context, path, sandbox),
    ]),
  ];
}

/** Reports agents without a sandbox (docs/decisions/0009-sandbox-on-by-default.md). */
function offFindings(context: AuditContext, reach: readonly Reach[]): Finding[] {
  const { config } = context.loaded;
  return reach.flatMap((one): Finding[] => {
    if (one.mode === "all") return [];
    const runs = one.may("exec") && (hostOf(config, one) === "sandbox" || one.mode === "off");
    const host = hostOf(config, one);
    const path = [
      ...(agentConfig(config, one.agent)?.sandbox?.mode === undefined ? ["agents", "defaults"] : one.own),
      "sandbox",
      "mode",
    ];
    const fix = setKey(path, "all");
    if (one.mode === "non-main")
      return [
        {
          id: "sandbox.main-open",
          weight: runs ? "medium" : "low",
          what: `agent ${one.agent}: the main session is not sandboxed, all others are`,
          why: "text that you write or forward in the main session acts on this machine with your rights",
          where: at(context, path),
          fix,
        },
      ];
    return [
      {
        id: "sandbox.off",
        weight: runs && host === "sandbox" ? "high" : runs ? "medium" : "low",
        what:
          runs && host === "sandbox"
            ? `agent ${one.agent} has no sandbox: its commands run directly on this machine with your rights, without approval`
            : `agent ${one.agent} has no sandbox: its tools run directly on this machine`,
        why: "a page or mail that the agent reads can make it run a command; a sandbox protects your files and keys from that",
        where: at(context, path),
        fix,
      },
    ];
  });
}

async function workingFindings(context: AuditContext): Promise<Finding[]> {
  const { works, reason, fix } = await context.machine.sandboxWorks();
  if (works) return [];
  return [
    {
      id: "sandbox.broken",
      weight: "medium",
      what: `a sandbox is configured but cannot start here${reason === undefined ? "" : `: ${reason}`}`,
      why: "sandboxed sessions are denied instead of running on the host, so nothing runs until this is fixed",
      where: at(context, "agents.defaults.sandbox.mode"),
      fix: fix ?? "sudo apt-get install bubblewrap",
    },
  ];
}

function scopesOf({ agents }: Config): [ConfigPath, Sandbox][] {
  const own = (agents?.list ?? []).flatMap(({ sandbox }, index): [ConfigPath, Sandbox][] =>
    sandbox === undefined ? [] : [[["agents", "list", index, "sandbox"], sandbox]],
  );
  return [
    ...(agents?.defaults?.sandbox === undefined
      ? []
      : [[["agents", "defaults", "sandbox"], agents.defaults.sandbox] as [ConfigPath, Sandbox]]),
    ...own,
  ];
}

/** Settings of the container that weaken the isolation. */
function containerFindings(context: AuditContext, path: ConfigPath, { docker = {} }: Sandbox): Finding[] {
  const key = (...rest: ConfigPath): ConfigPath => [...path, ...rest];
  const {
    network = "none",
    capDrop = ["ALL"],
    readOnlyRoot = true,
    seccompProfile,
    apparmorProfile,
    image = "",
    binds = [],
  } = docker;
  const joined = network === "host" || network.startsWith("container:");
  return [
    ...findingIf(
      joined,
      context,
      key("docker", "network"),
      "sandbox.network-joined",
      "critical",
      `the sandbox shares a network with ${network === "host" ? "the host" : "another container"}`,
      "it can reach every service that trusts the local machine, including the gateway",
      unsetKey(key("docker", "network")),
    ),
    ...findingIf(
      !joined && network !== "none",
      context,
      key("docker", "network"),
      "sandbox.network",
      "medium",
      `the sandbox has a network (${network})`,
      "data that an agent reads there can be sent anywhere",
      unsetKey(key("docker", "network")),
    ),
    ...findingIf(
      !capDrop.includes("ALL"),
      context,
      key("docker", "capDrop"),
      "sandbox.capabilities",
      "high",
      "the sandbox keeps root capabilities",
      "several of them allow leaving a container",
      unsetKey(key("docker", "capDrop")),
    ),
    ...findingIf(
      !readOnlyRoot,
      context,
      key("docker", "readOnlyRoot"),
      "sandbox.writable-root",
      "low",
      "the sandbox can change its own system files",
      "a changed program is used by the next command",
      unsetKey(key("docker", "readOnlyRoot")),
    ),
    ...findingIf(
      [seccompProfile, apparmorProfile].includes("unconfined"),
      context,
      key("docker"),
      "sandbox.unconfined",
      "high",
      "the sandbox runs without a system call filter",
      "more of the kernel can be attacked from inside",
      `${unsetKey(key("docker", "seccompProfile"))} && ${unsetKey(key("docker", "apparmorProfile"))}`,
    ),
    ...findingIf(
      image.startsWith("-"),
      context,
      key("docker", "image"),
      "sandbox.image-option",
      "critical",
      "the name of the image begins with a dash",
      "the engine would read it as an option",
      unsetKey(key("docker", "image")),
    ),
    ...binds.flatMap((bind, index) => bindFindings(context, key("docker", "binds", index), bind)),
  ];
}

/** What sandboxed sessions may do besides running commands. */
function capabilityFindings(context: AuditContext, path: ConfigPath, { browser, gitWrite }: Sandbox): Finding[] {
  const key = (...rest: ConfigPath): ConfigPath => [...path, ...rest];
  return [
    ...findingIf(
      gitWrite === true,
      context,
      key("gitWrite"),
      "sandbox.git-write",
      "medium",
      "sandboxed commands can change the git repositories of the workspace",
      "a nested repository or an unfinished rebase can start programs when you use git outside; hooks and settings of known repositories stay read-only",
      unsetKey(key("gitWrite")),
    ),
    ...findingIf(
      browser?.allowHostControl === true,
      context,
      key("browser", "allowHostControl"),
      "sandbox.host-browser",
      "medium",
      "sandboxed sessions can control the browser of the host",
      "it is logged in as you",
      unsetKey(key("browser", "allowHostControl")),
    ),
  ];
}

function bindFindings(context: AuditContext, path: ConfigPath, bind: string): Finding[] {
  const [source = "", , mode = "rw"] = bind.split(":");
  const host = resolve(expandHome(source, context.paths.home));
  const { state, home } = context.paths;
  const secret = [state, context.loaded.path, "/proc", "/sys", "/dev"];
  const isFatal =
    /(?:docker|containerd|podman)\.sock/.test(host) ||
    secret.some((kept) => within(kept, host) || within(host, kept)) ||
    [home, "/etc", "/run/docker.sock", "/var/run/docker.sock", "/root"].some((kept) => within(kept, host));
  if (isFatal)
    return [
      {
        id: "sandbox.bind-fatal",
        weight: "critical",
        what: `the sandbox can access ${host} of the host`,
        why: "it contains keys, settings or a way to become root, which the sandbox should keep away",
        where: at(context, path),
        fix: unsetKey(path),
      },
    ];
  if (mode.split(",").includes("ro")) return [];
  return [
    {
      id: "sandbox.bind-writable",
      weight: "medium",
      what: `the sandbox can write to ${host} of the host`,
      why: "programs on the host may run what the sandbox left there",
      where: at(context, path),
      fix: setKey(path, JSON.stringify(`${bind.replace(/:rw$/, "")}:ro`)),
    },
  ];
}

/** True when `inner` is `outer` or below it. */
export function within(inner: string, outer: string): boolean {
  for (let path = inner; ; path = dirname(path)) {
    if (path === outer) return true;
    if (path === dirname(path)) return false;
  }
}

function hostOf(config: Config, { agent }: Reach): string {
  return agentConfig(config, agent)?.tools?.exec?.host ?? config.tools?.exec?.host ?? "sandbox";
}

function findingIf(
  isSo: boolean,
  context: AuditContext,
  path: ConfigPath,
  id: string,
  weight: Finding["weight"],
  what: string,
  why: string,
  fix: string,
): Finding[] {
  return isSo ? [{ id, weight, what, why, where: at(context, path), fix }] : [];
}
