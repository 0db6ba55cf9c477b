// Starts a small shell that waits until this process dies and then ends every command it left behind.
import { spawn, type ChildProcess } from "node:child_process";

import { MARK } from "./proc.ts";

export interface OrphanReaper {
  /** Starts it if it does not run. */
  ensure(): void;
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/**
 * The shell blocks on a pipe that closes when this process dies. Then it sends TERM, waits two seconds, and sends KILL
 * until no process is left.
 */
const script = `
trap '' HUP INT TERM QUIT PIPE
while read -r _; do :; done
members() {
  sessions=' '
  for file in $(grep -lsF "${MARK}=$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}; pid=\${pid%/environ}
    { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || continue
    set -- "$1" \${stat##*) }
    case $2 in Z|X) continue ;; esac
    [ "$5" != 0 ] && sessions="$sessions$5 "
    echo "$pid"
  done
  for file in /proc/[0-9]*/stat; do
    { read -r stat < "$file"; } 2>/dev/null || continue
    set -- "$1" \${stat##*) }
    case $2 in Z|X) continue ;; esac
    pid=\${file#/proc/}; pid=\${pid%/stat}
    case $sessions in *" $5 "*) echo "$pid" ;; esac
  done
}
# Empty only after three empty scans: a program that is just starting hides its environment.
look() {
  for _ in 1 2 3; do
    pids=$(members "$1")
    [ -n "$pids" ] && return 0
    sleep 0.05
  done
  exit 0
}
mark=$1
look "$mark"
kill -TERM $pids 2>/dev/null; kill -CONT $pids 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.2
  look "$mark"
done
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -STOP $pids 2>/dev/null
  kill -KILL $pids $(members "$mark") 2>/dev/null
  sleep 0.1
  look "$mark"
done
`;

export function createOrphanReaper(mark: string): OrphanReaper {
  let child: ChildProcess | undefined;
  let isClosed = false;

  return {
    get pid() {
      return child?.pid;
    },
    ensure() {
      if (isClosed || child !== undefined || process.platform !== "linux") return;
      // In its own session, so that a signal to our group does not reach it; without the mark, so that it does not end
      // itself.
      const started = spawn("/bin/sh", ["-c", script, "openclaw-reaper", mark], {
        cwd: "/",
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
      });
      child = started;
      const forget = (): void => {
        if (child === started) child = undefined;
      };
      started.on("error", forget);
      started.on("exit", forget);
      started.stdin?.on("error", forget);
      started.unref();
      if (started.stdin !== null && "unref" in started.stdin) (started.stdin as { unref(): void }).unref();
    },
    async close() {
      isClosed = true;
      const closing = child;
      if (closing === undefined || closing.exitCode !== null) return;
      await new Promise<void>((resolve) => {
        closing.once("exit", () => resolve());
        closing.ref();
        closing.stdin?.end();
      });
    },
  };
}
