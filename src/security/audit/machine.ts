// The machine itself: who runs the gateway, how old Node is, and which doors to root stand open.
import { accessSync, constants } from "node:fs";

import type { Paths } from "../../base/paths.ts";
import { errnoOf } from "../../core/error.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { isAnySandboxOff } from "./reach.ts";
import { engineSockets } from "../../exec/sandbox/hidden-paths.ts";
import { sandboxProbe } from "../../exec/sandbox/probe.ts";
import { guardProbe } from "../../exec/guard/probe.ts";
import type { Finding, Ground, Machine } from "./finding.ts";

const LEAST_NODE = [24, 15] as const;

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

export function checkMachine(ground: Ground): Finding[] {
  const { machine, env, loaded } = ground;
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
        : "a hole in the gateway would be a hole in the whole machine",
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
      what: `this user may talk to a container engine (${open.join(", ")})`,
      why: "whoever may, is root on this machine: a container can mount all of its disk",
      where: { file: first },
      fix: isOpen
        ? "openclaw config set agents.defaults.sandbox.mode all"
        : "openclaw config set agents.defaults.sandbox.backend bubblewrap, and leave the docker group: sudo gpasswd -d $USER docker",
    },
  ];
}

function node({ nodeVersion }: Machine): Finding[] {
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return [];
  return [
    {
      id: "machine.old-node",
      weight: "high",
      what: `Node ${nodeVersion} is older than ${LEAST_NODE.join(".")}`,
      why: "known vulnerabilities in it are fixed only in later versions",
      where: {},
      fix: "install Node 24 from https://nodejs.org",
    },
  ];
}

/** Variables that make Node load code or open a debugger before a line of ours runs. */
function flags(env: Ground["env"]): Finding[] {
  const options = env["NODE_OPTIONS"] ?? "";
  const found = /--(?:inspect\S*|require|import|loader|experimental-loader)\b|(?:^|\s)-r\b/.exec(options);
  if (found === null) return [];
  return [
    {
      id: "machine.node-options",
      weight: "medium",
      what: `NODE_OPTIONS holds ${found[0].trim()}`,
      why: "it loads other code into the gateway, or lets a debugger in, before any rule holds",
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
