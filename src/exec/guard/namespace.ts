// Linux: a mount namespace in which the gateway's files are hidden. bubblewrap builds it once; each command enters it.
import { execFile, spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Readable } from "node:stream";

import { OpenClawError } from "../../core/error.ts";
import { statOf } from "../policy/programs.ts";
import type { HostLaunch } from "../sandbox.ts";
import { explainBubblewrap } from "../sandbox/bubblewrap-probe.ts";
import type { Works } from "../sandbox/spec.ts";
import { shellClosingInheritedFds } from "../sandbox/inherited-fds.ts";
import { controlFileArguments } from "../sandbox/system-arguments.ts";
import type { PathRule, PathRules } from "./path-rules.ts";

export interface Programs {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly setpriv: string;
  /** True when nsenter can change the folder after entering (util-linux 2.38). */
  readonly canChangeFolder: boolean;
}

export interface Namespace {
  enter(launch: HostLaunch): HostLaunch;
  close(): void;
}

const TIMEOUT_MS = 10_000;
// Not in node:fs. Refers to a folder without opening it, which prevents reuse of its inode number.
const O_PATH = 0o10000000;

export async function buildNamespace(
  pathRules: PathRules,
  programs: Programs,
): Promise<Namespace | Extract<Works, { works: false }>> {
  const builder = spawn(
    programs.bwrap,
    [...buildArguments(pathRules.rules), "--info-fd", "3", "--", "/bin/sh", "-c", "echo ready; read -r _"],
    { cwd: "/", env: {}, stdio: ["pipe", "pipe", "pipe", "pipe"], timeout: TIMEOUT_MS, killSignal: "SIGKILL" },
  );
  const exited = new Promise<void>((resolve) => builder.once("close", () => resolve()));
  const failed = new Promise<string>((resolve) => builder.once("error", ({ message }) => resolve(message)));
  const errors = Promise.race([text(builder.stderr), failed]);
  const child = childOf(builder.stdio[3] as Readable);
  const isReady = new Promise<boolean>((resolve) => {
    builder.stdout.once("data", () => resolve(true));
    builder.once("close", () => resolve(false));
    builder.once("error", () => resolve(false));
  });
  builder.stdin.on("error", () => undefined); // the exit event reports a builder that ended early
  const open: number[] = [];
  try {
    if (!(await isReady)) return refusal((await errors).trim().split("\n").at(-1) ?? "");
    const pid = await child;
    verify(pathRules.rules, `/proc/${pid}/root`);
    open.push(...["user", "mnt"].map((name) => openSync(`/proc/${pid}/ns/${name}`, "r")));
    open.push(...pathRules.rules.map(({ path }) => openSync(path, O_PATH | constants.O_RDONLY)));
    const [user = -1, mount = -1] = open;
    const enter = (launch: HostLaunch): HostLaunch =>
      entered(launch, enterArguments(user, mount, programs, launch.cwd));
    await checkStarts(enter({ argv: ["/bin/true"], cwd: "/", env: {} }).argv);
    return {
      enter,
      close: () => open.splice(0).forEach((fd) => closeSync(fd)),
    };
  } catch (error) {
    for (const fd of open) closeSync(fd);
    if (error instanceof NotBuilt) return refusal(error.message);
    throw error;
  } finally {
    builder.stdin.end();
    await exited;
  }
}

class NotBuilt extends Error {}

function refusal(output: string): Extract<Works, { works: false }> {
  const answer = explainBubblewrap(output);
  return answer.works ? { works: false, reason: output, fix: "" } : answer;
}

/** The same user, devices and network, no capabilities, and the path rules. */
function buildArguments(rules: readonly PathRule[]): string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    "--unshare-user",
    "--uid",
    String(process.getuid?.() ?? 0),
    "--gid",
    String(process.getgid?.() ?? 0),
    "--bind",
    "/",
    "/",
    // Root could open every disk by its device file and write control files in /proc, even without capabilities.
    ...(isRoot ? ["--dev", "/dev", ...controlFileArguments()] : ["--dev-bind", "/dev", "/dev"]),
    ...rules.flatMap(ruleArguments),
    ...rules
      .filter(({ access, isFolder }) => access === "hide" && isFolder)
      .flatMap(({ path }) => ["--remount-ro", path]),
  ];
}

function ruleArguments({ path, access, isFolder }: PathRule): string[] {
  if (access === "show" || access === "lock") return ["--bind", path, path];
  if (access === "read-only") return ["--ro-bind", path, path];
  return isFolder ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

/** bwrap itself stays outside; its child has the namespaces. */
async function childOf(stream: Readable): Promise<string> {
  let output = "";
  for await (const chunk of stream) {
    output += String(chunk);
    const pid = /"child-pid": *(\d+)/.exec(output)?.[1];
    if (pid !== undefined && output.includes("}")) return pid;
  }
  return "";
}

/** Compares with what the kernel shows inside, not with what was requested. */
function verify(rules: readonly PathRule[], root: string): void {
  for (const { path, access } of rules) {
    const [inside, outside] = [statOf(`${root}${path}`), statOf(path)];
    const isSame = inside?.dev === outside?.dev && inside?.ino === outside?.ino;
    if (inside === undefined || isSame === (access === "hide"))
      throw new NotBuilt(`${path} is not ${access === "hide" ? "hidden" : "shown"} inside`);
  }
}

/** Drops all capabilities permanently, so that a command cannot undo the path rules. */
function enterArguments(user: number, mount: number, programs: Programs, cwd: string): readonly string[] {
  const { nsenter, setpriv, canChangeFolder } = programs;
  const fileOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;
  return [
    nsenter,
    `--user=${fileOf(user)}`,
    `--mount=${fileOf(mount)}`,
    "--preserve-credentials",
    // Changed after entering: a folder opened outside would lead out through "..".
    ...(canChangeFolder ? [`--wdns=${cwd}`] : []),
    "--",
    setpriv,
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--",
    ...(canChangeFolder ? [] : ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', cwd]),
  ];
}

/** Neither nsenter nor setpriv can set argv[0], so the program sees the path it was started by. */
function entered(started: HostLaunch, prefix: readonly string[]): HostLaunch {
  const { argv0: _own, ...launch } = started;
  const controlling = Object.keys(launch.env).find((name) => /^(?:LD_|GLIBC_|GCONV_|LOCPATH)/i.test(name));
  if (controlling !== undefined)
    throw new OpenClawError(
      "exec.rejected-variable",
      `${controlling} would also affect the programs that hide the gateway's files`,
      {
        hint: `remove ${controlling} from env`,
      },
    );
  const { shell, closes } = shellClosingInheritedFds();
  const args = [...prefix, ...launch.argv];
  // Closed here, because files open in the gateway would be open inside too.
  const argv = closes === "" ? args : [...shell, "-c", `${closes}exec "$@"`, "sh", ...args];
  return { ...launch, argv, cwd: "/" };
}

async function checkStarts([program = "", ...args]: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd: "/", env: {}, timeout: TIMEOUT_MS }).catch((error: unknown) => {
    throw new NotBuilt(error instanceof Error ? error.message.trim() : String(error));
  });
}
