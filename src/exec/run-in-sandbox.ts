// Runs a command in the session's sandbox. The whole line goes to a shell, because the kernel enforces the limits.
import { lstatSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";

import { errnoOf, ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Sandbox } from "./sandbox.ts";
import { isWithin } from "./sandbox/hidden-paths.ts";
import { sandboxShell } from "./sandbox/shell.ts";
import { rejectVariables } from "./environment.ts";
import type { ExecContext } from "./exec-context.ts";
import { wantsInput, type ExecRequest } from "./exec-request.ts";
import type { ExecOutcome } from "./result.ts";
import { startWith } from "./start-plan.ts";

export async function runInSandbox({ deps, follow }: ExecContext, request: ExecRequest): Promise<ExecOutcome> {
  const { args, call, settings, timeoutMs } = request;
  const { agent, session } = call;
  rejectVariables(args.env ?? {}, "sandbox");
  const sandbox = await deps.sandboxes.of({ agent, session });
  const cwd = insideFolder(sandbox, args.workdir);
  const { argv, env } = sandboxShell({
    command: args.command,
    env: args.env ?? {},
    pathPrepend: (settings.pathPrepend ?? []).filter((folder) => isAbsolute(folder)),
    sandboxEnv: sandbox.env,
  });
  const tty = args.pty === true;
  const launch = await sandbox.launch({ argv, cwd, env, tty });
  const running = await startWith(deps, { pipeline: [{ launch }], tty, hasInput: wantsInput(args), timeoutMs });
  const outcome = await follow.inTurn(request, running, cwd);
  if (outcome.details.status === "running") {
    void launch.notes?.then((notes) => Promise.all(notes.map((note) => deps.notify(session, note))));
    return outcome;
  }
  const notes = [...((await launch.notes) ?? []), ...readOnlyNotes(sandbox, args.command, outcome)];
  return notes.length === 0 ? outcome : { ...outcome, warnings: [...outcome.warnings, ...notes] };
}

/** Explains why a command could not write to a repository, and names the config key that changes it. */
function readOnlyNotes({ gitWrite }: Sandbox, command: string, { details }: ExecOutcome): readonly string[] {
  if (gitWrite !== false || details.status !== "failed") return [];
  const isReadOnlyError = /read-only file system|EROFS|permission denied|EACCES/i.test(details.aggregated);
  if (!isReadOnlyError || !/\bgit\b/.test(`${command}\n${details.aggregated}`)) return [];
  return [GIT_READ_ONLY];
}

const GIT_READ_ONLY =
  "Git repositories are read-only in this sandbox: status, log and diff work; commit, add, switch and init at the top of the workspace fail. The owner can allow them with agents.defaults.sandbox.gitWrite or agents.list[].sandbox.gitWrite: true.";

/** Models see host paths and inside paths, so a host path below a mount is mapped to the same folder inside. */
function insideFolder(sandbox: Sandbox, workdir: string | undefined): string {
  if (workdir === undefined || workdir.trim() === "") return sandbox.workdir;
  if (workdir.includes("\0")) throw outside(workdir);
  const inside = mappedFolder(sandbox, workdir);
  if (isSurelyMissing(sandbox, inside)) throw missing(inside);
  return inside;
}

function mappedFolder(sandbox: Sandbox, workdir: string): string {
  const wanted = posix.resolve(sandbox.workdir, workdir);
  const host = sandbox.mounts.find((mount) => isWithin(wanted, mount.host));
  if (host !== undefined && !sandbox.mounts.some((mount) => isWithin(wanted, mount.inside)))
    return posix.join(host.inside, wanted.slice(host.host.length));
  if (sandbox.mounts.some((mount) => isWithin(wanted, mount.inside)) || isWithin(wanted, "/tmp")) return wanted;
  throw outside(workdir);
}

/**
 * Checked on the host, so that the error is the same as there. A link can mean something else inside, so it is left to
 * the start.
 */
function isSurelyMissing({ mounts }: Sandbox, folder: string): boolean {
  const [mount] = mounts
    .filter(({ inside }) => isWithin(folder, inside))
    .toSorted((a, b) => b.inside.length - a.inside.length);
  if (mount === undefined) return false;
  let at = mount.host;
  for (const name of folder.slice(mount.inside.length).split("/").filter(Boolean)) {
    at = join(at, name);
    const kind = kindOf(at);
    if (kind !== "folder") return kind === "none";
  }
  return false;
}

function kindOf(path: string): "folder" | "none" | "unsure" {
  try {
    const stats = lstatSync(path);
    if (stats.isDirectory()) return "folder";
    return stats.isSymbolicLink() ? "unsure" : "none";
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "none" : "unsure";
  }
}

function missing(folder: string): ToolError {
  return new ToolError("exec.bad-folder", `folder not found in the sandbox: ${visible(folder)}`, {
    hint: "set workdir to an existing folder, or omit it",
  });
}

function outside(workdir: string): ToolError {
  return new ToolError("exec.bad-folder", `workdir is outside the sandbox: ${visible(workdir, 200)}`, {
    hint: "use a path inside /workspace, or omit workdir",
    details: { refused: true },
  });
}
