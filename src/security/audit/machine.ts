// Checks the machine: which user runs the gateway, the Node version, and ways to become root.
import { accessSync, constants } from "node:fs";

import type { Paths } from "../../base/paths.ts";
import { errnoOf } from "../../core/error.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { isAnySandboxOff } from "./reach.ts";
import { engineSockets } from "../../exec/sandbox/hidden-paths.ts";
import { sandboxProbe } from "../../exec/sandbox/probe.ts";
import { guardProbe } from "../../exec/guard/probe.ts";
import type { Finding, AuditContext, Machine } from "./finding.ts";

const MIN_NODE = [24, 15] as const;

export function thisMachine(loaded: LoadedConfig, paths: Paths): Machine {
  return {
    platform: process.platform,
    userId: process.getuid?.(),
    nodeVersion: process.versions.node,
    engineSockets: engineSockets.filter(isWritable),
    unguarded: () => guardProbe(loaded, paths),
    sandboxWorks: () => sandboxProbe(loaded, paths),
  };
}

export function checkMachine(context: AuditContext): Finding[] {
  const { machine, env, loaded } = context;
  const isOpen = !loaded.valid || isAnySandboxOff(loaded.config);
  return [...root(machine, isOpen), ...sockets(machine, isOpen), ...node(machine), ...flags(env)];
}

function root({ userId }: Machine, isOpen: boolean): Finding[] {
  if (userId !== 0) return [];
  return [
    {
      id: "machine.root",
      weight: isOpen ? "high" : "medium",
      what: "this user is root",
      why: isOpen
        ? "tools that are not sandboxed act with all rights on this machine"
        : "a vulnerability in the gateway would affect the whole machine",
      where: {},
      fix: "sudo useradd --create-home openclaw && sudo -iu openclaw openclaw gateway run --setup",
    },
  ];
}

function sockets({ engineSockets: open, userId }: Machine, isOpen: boolean): Finding[] {
  const [first] = open;
  if (first === undefined) return [];
  return [
    {
      id: "machine.engine-socket",
      weight: isOpen && userId !== 0 ? "high" : "info",
      what: `this user can control a container engine (${open.join(", ")})`,
      why: "that is equivalent to root: a container can mount the whole disk",
      where: { file: first },
      fix: isOpen
        ? "openclaw config set agents.defaults.sandbox.mode all"
        : "openclaw config set agents.defaults.sandbox.backend bubblewrap, and leave the docker group: sudo gpasswd -d $USER docker",
    },
  ];
}

function node({ nodeVersion }: Machine): Finding[] {
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return [];
  return [
    {
      id: "machine.old-node",
      weight: "high",
      what: `Node ${nodeVersion} is older than ${MIN_NODE.join(".")}`,
      why: "known vulnerabilities in it are fixed only in later versions",
      where: {},
      fix: "install Node 24 from https://nodejs.org",
    },
  ];
}

/** Variables that make Node load code or open a debugger before our code runs. */
function flags(env: AuditContext["env"]): Finding[] {
  const options = env["NODE_OPTIONS"] ?? "";
  const found = /--(?:inspect\S*|require|import|loader|experimental-loader)\b|(?:^|\s)-r\b/.exec(options);
  if (found === null) return [];
  return [
    {
      id: "machine.node-options",
      weight: "medium",
      what: `NODE_OPTIONS contains ${found[0].trim()}`,
      why: "it loads other code into the gateway or opens a debugger before any rule applies",
      where: {},
      fix: "unset NODE_OPTIONS",
    },
  ];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
