// Ends a command: TERM first, KILL after a grace period, until no process it started is left.
import { errnoOf } from "../core/error.ts";
import { hasProc, isOrphanMark, programName, readProcess, scanProcesses, signalProcess, type Process } from "./proc.ts";

/** Processes that belong together: one command, or all commands of a gateway. */
export interface Tree {
  /** True when this mark belongs to the tree. */
  owns(mark: string): boolean;
  /** The processes we started ourselves; each leads its own group and session. */
  readonly leaders: readonly Leader[];
}

export interface Leader {
  readonly pid: number;
  /** True once its exit status was collected; from then on the pid may be reused. */
  isReaped(): boolean;
}

export interface EndOptions {
  /** Between TERM and KILL. */
  readonly graceMs: number;
}

const GIVE_UP_MS = 10_000;

/** Resolves with the processes that could not be ended (uninterruptible or another user's); normally none. */
export async function endTree(tree: Tree, { graceMs }: EndOptions): Promise<readonly Process[]> {
  if (!hasProc()) return endGroups(tree, graceMs);
  const terminated = new Map<string, Process>();
  const until = performance.now() + graceMs;
  for (;;) {
    const members = await findMembersReliably(tree);
    if (members.length === 0) return [];
    if (performance.now() >= until) break;
    for (const member of members) terminateOnce(terminated, member);
    await waitFor(members, until);
  }
  return forceTree(tree);
}

/** All living processes of a tree. */
async function findMembers(tree: Tree): Promise<readonly Process[]> {
  return membersOf(tree, await scanProcesses());
}

/** Pure. A group or session number counts only while it cannot have been reused. */
export function membersOf(tree: Tree, processes: readonly Process[]): readonly Process[] {
  const byPid = new Map(processes.map((seen) => [seen.pid, seen]));
  const self = byPid.get(process.pid);
  const numbers = new Set(
    // A number is not reused while its group has members: a reaped leader whose pid exists again has no group left.
    tree.leaders
      .filter((leader) => isOwnNumber(leader.pid) && (!leader.isReaped() || !byPid.has(leader.pid)))
      .map(({ pid }) => pid),
  );
  const members = new Map<number, Process>();
  for (let grew = true; grew;) {
    grew = false;
    for (const seen of processes) {
      const isMember =
        numbers.has(seen.group) ||
        numbers.has(seen.session) ||
        members.has(seen.parent) ||
        (seen.mark !== undefined && tree.owns(seen.mark));
      if (!isMember || members.has(seen.pid) || seen.pid === process.pid) continue;
      members.set(seen.pid, seen);
      // A process cannot join a session from outside, so one that shares a session with a member is a member, even
      // without a mark.
      if (seen.session !== self?.session && seen.session !== 0) numbers.add(seen.session);
      grew = true;
    }
  }
  return [...members.values()].filter((member) => !member.isDead);
}

/** 0 and 1 are never ours: as a group, 0 is our own, and every process of the machine descends from 1. */
const isOwnNumber = (pid: number): boolean => Number.isInteger(pid) && pid > 1;

const SCANS = 3;
const MAX_SCANS = 20;

/**
 * The tree is empty only after three empty scans: a process can fork and exit between two scans, and one that is
 * starting a program hides its mark briefly. A process whose environment stays hidden has none.
 */
async function findMembersReliably(tree: Tree): Promise<readonly Process[]> {
  const hiddenCounts = new Map<string, number>();
  for (let scans = 1, empty = 1; scans <= MAX_SCANS && empty <= SCANS; scans += 1, empty += 1) {
    const processes = await scanProcesses();
    const members = membersOf(tree, processes);
    if (members.length > 0) return members;
    for (const one of processes.filter(({ isEnvironmentHidden }) => isEnvironmentHidden)) {
      const seen = (hiddenCounts.get(keyOf(one)) ?? 0) + 1;
      hiddenCounts.set(keyOf(one), seen);
      if (seen < SCANS) empty = 0;
    }
    await sleep(5);
  }
  return [];
}

/**
 * Programs that only launch a command in its sandbox: a signal would end the sandbox before the command could react.
 */
const sandboxLaunchers: ReadonlySet<string> = new Set(["bwrap", "docker"]);

/** Sends one signal to every process of the tree; processes that handle it continue. */
export async function signalTree(tree: Tree, signal: NodeJS.Signals): Promise<void> {
  if (!hasProc()) {
    for (const leader of tree.leaders) if (!leader.isReaped()) signalGroup(leader.pid, signal);
    return;
  }
  const members = await findMembersReliably(tree);
  for (const member of members) if (!sandboxLaunchers.has(programName(member.pid))) signalProcess(member, signal);
}

/** Ends processes left behind by gateways that no longer run. Returns how many were found. */
export async function sweepOrphans(graceMs = 1000): Promise<number> {
  const tree: Tree = { owns: isOrphanMark, leaders: [] };
  const found = await findMembers(tree);
  if (found.length > 0) await endTree(tree, { graceMs });
  return found.length;
}

/** Stops all processes first, so that none can fork between scan and kill, then kills them and scans again. */
async function forceTree(tree: Tree): Promise<readonly Process[]> {
  const until = performance.now() + GIVE_UP_MS;
  const stopped = new Set<string>();
  for (;;) {
    const members = await findMembersReliably(tree);
    if (members.length === 0 || performance.now() > until) return members;
    const fresh = members.filter((member) => !stopped.has(keyOf(member)));
    for (const member of fresh) {
      stopped.add(keyOf(member));
      signalProcess(member, "SIGSTOP");
    }
    if (fresh.length > 0) continue;
    // A signal to the whole group leaves no gap for a fork; used only while the group number is certainly ours.
    for (const leader of tree.leaders) if (!leader.isReaped()) signalGroup(leader.pid, "SIGKILL");
    for (const member of members) signalProcess(member, "SIGKILL");
    await waitFor(members, performance.now() + 100);
  }
}

function terminateOnce(terminated: Map<string, Process>, member: Process): void {
  if (terminated.has(keyOf(member))) return;
  terminated.set(keyOf(member), member);
  signalProcess(member, "SIGTERM");
  // A stopped process handles TERM only after it continues.
  signalProcess(member, "SIGCONT");
}

/** Waits until all are gone or the time is up, polling less often over time. */
async function waitFor(members: readonly Process[], until: number): Promise<void> {
  for (let pauseMs = 2; performance.now() < until; pauseMs = Math.min(50, pauseMs * 2)) {
    await sleep(Math.max(1, Math.min(pauseMs, until - performance.now())));
    if (!members.some((member) => signalable(member))) return;
  }
}

function signalable(member: Process): boolean {
  const now = readProcess(member.pid);
  return now !== undefined && now.start === member.start && !now.isDead;
}

async function endGroups(tree: Tree, graceMs: number): Promise<readonly Process[]> {
  const signal = (name: NodeJS.Signals): boolean => tree.leaders.filter(({ pid }) => signalGroup(pid, name)).length > 0;
  if (!signal("SIGTERM")) return [];
  const until = performance.now() + graceMs;
  while (performance.now() < until && tree.leaders.some(({ pid }) => signalGroup(pid, 0))) await sleep(20);
  signal("SIGKILL");
  return [];
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (!isOwnNumber(pid)) return false;
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if (errnoOf(error) === "ESRCH" || errnoOf(error) === "EPERM") return false;
    throw error;
  }
}

const keyOf = ({ pid, start }: Process): string => `${pid}.${start}`;

async function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
