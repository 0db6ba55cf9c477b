// A command in the session's sandbox: the whole shell line, because the walls are the kernel's.
import { isAbsolute, posix } from "node:path";

import { ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Box } from "./box.ts";
import { boxShell } from "./box/shell.ts";
import { rejectVariables } from "./environment.ts";
import type { Order, Room } from "./exec.ts";
import type { ExecOutcome } from "./result.ts";
import { startWith } from "./start-plan.ts";

export async function runInBox({ deps, follow }: Room, order: Order): Promise<ExecOutcome> {
  const { args, call, settings, timeoutMs } = order;
  const { agent, session } = call;
  rejectVariables(args.env ?? {}, "sandbox");
  const box = await deps.boxes.of({ agent, session });
  const cwd = insideFolder(box, args.workdir);
  const { argv, env } = boxShell({
    command: args.command,
    env: args.env ?? {},
    pathPrepend: (settings.pathPrepend ?? []).filter((folder) => isAbsolute(folder)),
    boxEnv: box.env,
  });
  const tty = args.pty === true;
  const launch = await box.launch({ argv, cwd, env, tty });
  const running = await startWith(deps, { pipeline: [{ launch }], tty, timeoutMs });
  return follow.inTurn(order, running, cwd);
}

/** As seen from inside. A host path below a mount is the same folder by another name; models get both to see. */
function insideFolder(box: Box, workdir: string | undefined): string {
  if (workdir === undefined || workdir === "") return box.workdir;
  if (workdir.includes("\0")) throw outside(workdir);
  const wanted = posix.resolve(box.workdir, workdir);
  const host = box.mounts.find((mount) => isBelow(wanted, mount.host));
  if (host !== undefined && !box.mounts.some((mount) => isBelow(wanted, mount.inside)))
    return posix.join(host.inside, wanted.slice(host.host.length));
  if (box.mounts.some((mount) => isBelow(wanted, mount.inside)) || isBelow(wanted, "/tmp")) return wanted;
  throw outside(workdir);
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

function outside(workdir: string): ToolError {
  return new ToolError("exec.bad-folder", `"${visible(workdir, 200)}" is not a folder of this sandbox`, {
    hint: "use a path inside /workspace, or leave out workdir",
    details: { refused: true },
  });
}
