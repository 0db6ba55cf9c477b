// Finds the recorded approval behind a client's `approved: true`
// (docs/decisions/0029-node-run-needs-a-recorded-approval.md). Pure.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import type { Grant } from "../approval/grant.ts";
import { rememberedOnNode } from "../exec/node-always.ts";

/** The parameters of `system.run` that decide what runs. */
interface Wanted {
  readonly argv: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, unknown>>;
  readonly agent: string | null;
  readonly session: string | null;
}

/**
 * Node hosts compare `rawCommand` with their allowlist and then run `command`, so different text would bypass the
 * allowlist.
 */
export function requireMatchingText({ command, rawCommand }: Readonly<Record<string, unknown>>): void {
  if (rawCommand === undefined || rawCommand === null) return;
  const argv = Array.isArray(command) ? command.map(String) : [];
  if (
    typeof rawCommand === "string" &&
    rawCommand !== "" &&
    (shellText(argv) === rawCommand || plainText(argv) === rawCommand)
  )
    return;
  throw new OpenClawError("node.other-text", "invalid system.run params: rawCommand is not what command would run", {
    hint: "leave out rawCommand, or send it as the text behind /bin/sh -lc",
    details: { refused: true },
  });
}

/**
 * The approval that covers this run, or undefined. A client's own request is compared with the text that people saw.
 */
export function grantForRun(params: Readonly<Record<string, unknown>>, grants: readonly Grant[]): Grant | undefined {
  const wanted = wantedIn(params);
  if (wanted === undefined) return undefined;
  return grants.find((grant) => covers(grant, wanted));
}

/** "Always" is passed on only for programs that a node may remember. */
export function decisionFor({ command }: Readonly<Record<string, unknown>>, { decision }: Grant): Grant["decision"] {
  const [text = ""] = Array.isArray(command) ? shownAs(command.map(String)) : [];
  return decision === "allow-always" && rememberedOnNode(text) !== undefined ? decision : "allow-once";
}

/** The plan for nodes that compare what was approved. */
export function planFor(nodeId: string, params: Readonly<Record<string, unknown>>, { id }: Grant): object {
  const { command: argv, cwd, env, agentId, sessionKey } = params;
  const given = Object.entries({ cwd, env, agentId, sessionKey }).filter(([, value]) => (value ?? null) !== null);
  return { nodeId, argv, ...Object.fromEntries(given), approvalId: id };
}

function covers({ kind, handler, agent, body }: Grant, wanted: Wanted): boolean {
  // What the gateway asked for is started by its handler; a client may only use what it asked for itself.
  if (kind !== "node" || handler !== null || !isRecord(body)) return false;
  const { command, cwd = null, sessionKey = null } = body;
  return (
    typeof command === "string" &&
    shownAs(wanted.argv).includes(command) &&
    (cwd ?? null) === wanted.cwd &&
    agent === wanted.agent &&
    (sessionKey ?? null) === wanted.session &&
    // The question showed no variables, so there must be none.
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

/** The texts that people may have seen for this argv; each contains every argument in its place. */
function shownAs(argv: readonly string[]): string[] {
  const script = shellText(argv);
  if (script !== undefined) return [script];
  const [program = ""] = argv;
  // The published command line joins arguments with spaces. Then only the argument boundaries are ambiguous, and these
  // checks keep that harmless.
  const isOpen = !/\s/.test(program) && argv.every((word) => word !== "" && !/^ | $| {2}|[^\S ]|\p{C}/u.test(word));
  return [plainText(argv), ...(isOpen ? [argv.join(" ")] : [])];
}

/** The script, when the command only starts a shell with it. */
export function shellText([program, ...rest]: readonly string[]): string | undefined {
  const script = rest.at(-1);
  const isPosix = program === "/bin/sh" && rest.length === 2 && rest[0] === "-lc";
  const isWindows = program === "cmd.exe" && /^(?:\/d \/s )?\/c$/.test(rest.slice(0, -1).join(" "));
  return isPosix || isWindows ? script : undefined;
}

/** Quotes arguments where spaces or symbols would change the meaning. */
function plainText(argv: readonly string[]): string {
  const isPlain = (word: string): boolean => /^[A-Za-z0-9_@%+=:,./~^-]+$/.test(word);
  return argv.map((word) => (isPlain(word) ? word : `"${word.replaceAll('"', '\\"')}"`)).join(" ");
}
