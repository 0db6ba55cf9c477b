// `approved: true` from a client: true only when a person said yes to exactly that command (ruling 29). Pure.
import { isRecord } from "../config/path.ts";
import type { Grant } from "../exec/approval/desk-grant.ts";

/** The parameters of `system.run` that decide what happens. */
interface Wanted {
  readonly argv: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, unknown>>;
  readonly agent: string | null;
  readonly session: string | null;
}

/** The answer that covers this run, or undefined. What a client asked for itself is compared with the text people saw. */
export function grantForRun(params: Readonly<Record<string, unknown>>, grants: readonly Grant[]): Grant | undefined {
  const wanted = wantedIn(params);
  if (wanted === undefined) return undefined;
  return grants.find((grant) => covers(grant, wanted));
}

function covers({ kind, origin, agent, body }: Grant, wanted: Wanted): boolean {
  // Plans of the house are run by the house; a client may only use what it asked for over the wire.
  if (kind !== "node" || origin !== "wire" || !isRecord(body)) return false;
  const { command, cwd = null, sessionKey = null } = body;
  return (
    typeof command === "string" &&
    shownAs(wanted.argv).includes(command) &&
    (cwd ?? null) === wanted.cwd &&
    agent === wanted.agent &&
    (sessionKey ?? null) === wanted.session &&
    // People were shown no variables, so there may be none.
    Object.keys(wanted.env).length === 0
  );
}

function wantedIn({ command, cwd, env, agentId, sessionKey }: Readonly<Record<string, unknown>>): Wanted | undefined {
  if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === "string"))
    return undefined;
  return {
    argv: command as string[],
    cwd: typeof cwd === "string" ? cwd : null,
    env: isRecord(env) ? env : {},
    agent: typeof agentId === "string" ? agentId : null,
    session: typeof sessionKey === "string" ? sessionKey : null,
  };
}

/** The texts that mean exactly this argv and no other: quoted where blanks or signs would change the meaning. */
function shownAs(argv: readonly string[]): string[] {
  const words = argv.map((word) =>
    /^[A-Za-z0-9_@%+=:,./~^-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`,
  );
  const [shell, flag, script, ...more] = argv;
  const isShell = shell === "/bin/sh" && flag === "-lc" && script !== undefined && more.length === 0;
  return isShell ? [script] : [words.join(" ")];
}
