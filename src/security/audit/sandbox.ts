// Whether tools act in a sandbox, whether it can start, and what pierces it.
import { dirname, resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentConfig } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { reachOf, type Reach } from "./reach.ts";

type Sandbox = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;

export async function checkSandbox(ground: Ground): Promise<Finding[]> {
  const reach = reachOf(ground.loaded.config);
  return [
    ...offFindings(ground, reach),
    ...(reach.some(({ mode }) => mode !== "off") ? await workingFindings(ground) : []),
    ...scopesOf(ground.loaded.config).flatMap(([path, sandbox]) => piercings(ground, path, sandbox)),
  ];
}

/** Reports where nothing is sandboxed (docs/decisions/0009-sandbox-on-by-default.md). */
function offFindings(ground: Ground, reach: readonly Reach[]): Finding[] {
  const { config } = ground.loaded;
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
          what: `agent ${one.agent}: the main session is not sandboxed, every other one is`,
          why: "what you say or forward in the main session acts on this machine with your rights",
          where: at(ground, path),
          fix,
        },
      ];
    return [
      {
        id: "sandbox.off",
        weight: runs && host === "sandbox" ? "high" : runs ? "medium" : "low",
        what:
          runs && host === "sandbox"
            ? `agent ${one.agent} has no sandbox: its commands run on this machine itself, with your rights, without asking`
            : `agent ${one.agent} has no sandbox: its tools act on this machine itself`,
        why: "a page or a mail the agent reads can talk it into a command; a sandbox keeps that from your files and keys",
        where: at(ground, path),
        fix,
      },
    ];
  });
}

async function workingFindings(ground: Ground): Promise<Finding[]> {
  const { works, reason, fix } = await ground.machine.sandboxWorks();
  if (works) return [];
  return [
    {
      id: "sandbox.broken",
      weight: "medium",
      what: `a sandbox is configured but cannot start here${reason === undefined ? "" : `: ${reason}`}`,
      why: "sandboxed sessions are refused instead of falling back to the host, so nothing runs, and the next hurried fix is to turn it off",
      where: at(ground, "agents.defaults.sandbox.mode"),
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

function piercings(ground: Ground, path: ConfigPath, { docker, browser, gitWrite }: Sandbox): Finding[] {
  const key = (...rest: ConfigPath): ConfigPath => [...path, ...rest];
  const {
    network = "none",
    capDrop = ["ALL"],
    readOnlyRoot = true,
    seccompProfile,
    apparmorProfile,
    image = "",
    binds = [],
  } = docker ?? {};
  const joined = network === "host" || network.startsWith("container:");
  return [
    ...one(
      joined,
      ground,
      key("docker", "network"),
      "sandbox.network-joined",
      "critical",
      `the sandbox shares a network with ${network === "host" ? "the host" : "another container"}`,
      "it reaches every service that trusts the local machine, the gateway among them",
      unsetKey(key("docker", "network")),
    ),
    ...one(
      !joined && network !== "none",
      ground,
      key("docker", "network"),
      "sandbox.network",
      "medium",
      `the sandbox has a network (${network})`,
      "what an agent reads in there can be sent anywhere",
      unsetKey(key("docker", "network")),
    ),
    ...one(
      !capDrop.includes("ALL"),
      ground,
      key("docker", "capDrop"),
      "sandbox.capabilities",
      "high",
      "the sandbox keeps capabilities of root",
      "several of them lead out of a container",
      unsetKey(key("docker", "capDrop")),
    ),
    ...one(
      !readOnlyRoot,
      ground,
      key("docker", "readOnlyRoot"),
      "sandbox.writable-root",
      "low",
      "the sandbox may change its own system",
      "a changed program stays for the next command",
      unsetKey(key("docker", "readOnlyRoot")),
    ),
    ...one(
      [seccompProfile, apparmorProfile].includes("unconfined"),
      ground,
      key("docker"),
      "sandbox.unconfined",
      "high",
      "the sandbox runs without a system call filter",
      "more of the kernel can be attacked from inside",
      `${unsetKey(key("docker", "seccompProfile"))} && ${unsetKey(key("docker", "apparmorProfile"))}`,
    ),
    ...one(
      image.startsWith("-"),
      ground,
      key("docker", "image"),
      "sandbox.image-option",
      "critical",
      "the name of the image begins with a dash",
      "the engine would read it as an option",
      unsetKey(key("docker", "image")),
    ),
    ...one(
      gitWrite === true,
      ground,
      key("gitWrite"),
      "sandbox.git-write",
      "medium",
      "sandboxed commands may change the git repositories of the workspace",
      "what they leave there, such as a nested repository or a rebase under way, can start programs when you use git outside; hooks and settings of known repositories stay read-only",
      unsetKey(key("gitWrite")),
    ),
    ...one(
      browser?.allowHostControl === true,
      ground,
      key("browser", "allowHostControl"),
      "sandbox.host-browser",
      "medium",
      "sandboxed sessions may drive the browser of the host",
      "it is logged in as you",
      unsetKey(key("browser", "allowHostControl")),
    ),
    ...one(
      browser?.enabled === true,
      ground,
      key("browser", "enabled"),
      "sandbox.no-browser",
      "info",
      "a browser of its own is asked for the sandbox, and this version has none: nothing is started, no port is opened",
      "who expects one would look for a viewer page that is not there",
      unsetKey(key("browser", "enabled")),
    ),
    ...binds.flatMap((bind, index) => bindFindings(ground, key("docker", "binds", index), bind)),
  ];
}

function bindFindings(ground: Ground, path: ConfigPath, bind: string): Finding[] {
  const [source = "", , mode = "rw"] = bind.split(":");
  const host = resolve(expandHome(source, ground.paths.home));
  const { state, home } = ground.paths;
  const secret = [state, ground.loaded.path, "/proc", "/sys", "/dev"];
  const isFatal =
    /(?:docker|containerd|podman)\.sock/.test(host) ||
    secret.some((kept) => within(kept, host) || within(host, kept)) ||
    [home, "/etc", "/run/docker.sock", "/var/run/docker.sock", "/root"].some((kept) => within(kept, host));
  if (isFatal)
    return [
      {
        id: "sandbox.bind-fatal",
        weight: "critical",
        what: `the sandbox gets ${host} of the host`,
        why: "it holds what the sandbox is there to keep out: keys, settings or a way to root",
        where: at(ground, path),
        fix: unsetKey(path),
      },
    ];
  if (mode.split(",").includes("ro")) return [];
  return [
    {
      id: "sandbox.bind-writable",
      weight: "medium",
      what: `the sandbox may write to ${host} of the host`,
      why: "whatever runs there next runs what the sandbox left behind",
      where: at(ground, path),
      fix: setKey(path, JSON.stringify(`${bind.replace(/:rw$/, "")}:ro`)),
    },
  ];
}

/** Whether `inner` is `outer` or below it. */
export function within(inner: string, outer: string): boolean {
  for (let path = inner; ; path = dirname(path)) {
    if (path === outer) return true;
    if (path === dirname(path)) return false;
  }
}

function hostOf(config: Config, { agent }: Reach): string {
  return agentConfig(config, agent)?.tools?.exec?.host ?? config.tools?.exec?.host ?? "sandbox";
}

function one(
  isSo: boolean,
  ground: Ground,
  path: ConfigPath,
  id: string,
  weight: Finding["weight"],
  what: string,
  why: string,
  fix: string,
): Finding[] {
  return isSo ? [{ id, weight, what, why, where: at(ground, path), fix }] : [];
}
