// A fixture for attacks on commands: one gateway, one agent per set of rules, canaries that must stay untouched.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { exec, writeApprovals, type Called } from "../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../harness/gateway.ts";
import { readCases, type CorpusCase } from "./corpus.ts";

export type ExecAttack = CorpusCase<{
  readonly setup?: {
    readonly exec?: Record<string, unknown>;
    readonly allowlist?: readonly (string | Record<string, unknown>)[];
  };
  readonly params?: { readonly command?: string; readonly env?: Record<string, string> };
  readonly scenario?: string;
}>;

/** The cases whose input is a call of exec. */
export function corpus(table: "cases" | "controls"): ExecAttack[] {
  return readCases<ExecAttack["input"]>(table).filter(
    ({ tool, input }) => tool === "exec" && input.params?.command !== undefined,
  );
}

export interface ExecFixture {
  readonly gateway: TestGateway;
  readonly out: string;
  readonly canary: string;
  readonly workspaceOf: (attack: ExecAttack) => string;
  run(attack: ExecAttack, over?: { command?: string }): Promise<Called>;
  /** What an attack may not do; an empty list means unharmed. Puts everything back. */
  harm(called?: Called): string[];
  close(): Promise<void>;
}

const SECRET = "S3CRET-OF-THE-HOUSE-0123456789";
const ours = new Set(["host", "security", "ask", "safeBins"]);

export async function openExecFixture(attacks: readonly ExecAttack[]): Promise<ExecFixture> {
  const setups = new Map(attacks.map((attack) => [agentOf(attack), attack.input.setup ?? {}]));
  const gateway = await startGateway({
    config: {
      agents: {
        // The first agent has the default workspace: none of ours may be it.
        list: [
          { id: "main" },
          ...[...setups].map(([id, { exec: settings = {} }]) => ({
            id,
            tools: { exec: Object.fromEntries(Object.entries(settings).filter(([key]) => ours.has(key))) },
          })),
        ],
      },
    },
  });
  writeApprovals(gateway.state, {
    agents: Object.fromEntries(
      [...setups].map(([id, { allowlist = [] }]) => [
        id,
        { allowlist: allowlist.map((entry) => (typeof entry === "string" ? { pattern: entry } : entry)) },
      ]),
    ),
  });
  const out = join(gateway.home, "outside");
  const canary = join(out, "canary");
  const secret = join(out, "secret");
  layOut(out, canary, secret);
  const workspaceOf = (attack: ExecAttack): string => join(gateway.state, `workspace-${agentOf(attack)}`);
  for (const attack of attacks) layWorkspace(workspaceOf(attack));
  const before = new Map(["secret", "victim"].map((name) => [name, readFileSync(join(out, name), "utf8")]));
  // A person could be asked: on-miss must then wait instead of falling back.
  const person: Wire = await operator(gateway);
  const fill = (text: string, attack: ExecAttack): string =>
    text
      .replaceAll("{{CANARY}}", canary)
      .replaceAll("{{OUT}}", out)
      .replaceAll("{{SECRET}}", secret)
      .replaceAll("{{WS}}", workspaceOf(attack))
      .replaceAll("{{EVIL}}", "http://127.0.0.1:9");

  return {
    gateway,
    out,
    canary,
    workspaceOf,
    run(attack, over = {}) {
      const { params = {} } = attack.input;
      const command = fill(over.command ?? params.command ?? "", attack);
      const env = Object.fromEntries(
        Object.entries(params.env ?? {}).map(([name, value]) => [name, fill(value, attack)]),
      );
      const args = { ...params, command, ...(params.env === undefined ? {} : { env }), timeout: 5 };
      return exec(gateway, args, { body: { sessionKey: `agent:${agentOf(attack)}:main` } });
    },
    harm(called) {
      const found = [
        ...(existsSync(canary) ? ["the canary was touched"] : []),
        ...[...before].flatMap(([name, text]) =>
          existsSync(join(out, name)) && readFileSync(join(out, name), "utf8") === text ? [] : [`${name} was changed`],
        ),
        ...(called !== undefined && JSON.stringify(called).includes(SECRET) ? ["the secret was told"] : []),
      ];
      if (found.length > 0) layOut(out, canary, secret);
      return found;
    },
    async close() {
      person.end();
      await dispose(gateway);
    },
  };
}

/** One agent per set of rules, so that one gateway serves them all. */
function agentOf({ input }: ExecAttack): string {
  return `a${createHash("sha256")
    .update(JSON.stringify(input.setup ?? {}))
    .digest("hex")
    .slice(0, 10)}`;
}

/** What a careless gateway would run or read. Everything here touches the canary when it is started. */
function layOut(out: string, canary: string, secret: string): void {
  rmSync(canary, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(secret, `${SECRET}\n`);
  writeFileSync(join(out, "victim"), "victim\n");
  const trap = `#!/bin/sh\ntouch '${canary}'\n`;
  for (const name of ["ls", "echo", "git", "x", "rc", "job", "keys", "conf", "sh", "git-status"]) {
    writeFileSync(join(out, name), trap);
    chmodSync(join(out, name), 0o755);
  }
  writeFileSync(join(out, "x.py"), `open(${JSON.stringify(canary)}, "w")\n`);
  writeFileSync(join(out, "x.mjs"), `import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(canary)}, "");\n`);
  writeFileSync(join(out, "x.rb"), `File.write(${JSON.stringify(canary)}, "")\n`);
}

function layWorkspace(folder: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "app.ts"), "export {};\n");
  writeFileSync(join(folder, "src", "app.ts"), "export {}; // a|b\n");
  writeFileSync(join(folder, "safe.py"), "print(1)\n");
  writeFileSync(join(folder, "ok.js"), "1;\n");
  writeFileSync(join(folder, ".env"), "S3CRET=1\n");
  writeFileSync(join(folder, "ls"), "#!/bin/sh\necho trojan\n");
  chmodSync(join(folder, "ls"), 0o755);
}

/** Other spellings of one attack; none may get further than the one it came from. */
export const mutations: readonly { readonly name: string; readonly of: (command: string) => string }[] = [
  { name: "as it is", of: (command) => command },
  { name: "first word quoted", of: (command) => command.replace(/^(\S+)/, '"$1"') },
  {
    name: "every letter of the first word escaped",
    of: (command) =>
      command.replace(/^([a-z]+)/, (word) =>
        word
          .split("")
          .map((c) => `\\${c}`)
          .join(""),
      ),
  },
  { name: "split by empty quotes", of: (command) => command.replace(/^(\w)(\w*)/, "$1''$2") },
  {
    name: "ANSI-C quotes",
    of: (command) =>
      command.replace(
        /^([a-z]+)/,
        (word) =>
          `$'${word
            .split("")
            .map((c) => `\\x${c.charCodeAt(0).toString(16)}`)
            .join("")}'`,
      ),
  },
  { name: "line continuation in the first word", of: (command) => command.replace(/^(\w)/, "$1\\\n") },
  { name: "line continuation between words", of: (command) => command.replace(/ /, " \\\n ") },
  { name: "tab for blank", of: (command) => command.replaceAll(" ", "\t") },
  { name: "trailing separator", of: (command) => `${command};` },
  { name: "leading separator", of: (command) => `;${command}` },
  { name: "trailing comment", of: (command) => `${command} # ls` },
  { name: "background", of: (command) => `${command} &` },
  { name: "negated", of: (command) => `! ${command}` },
  { name: "grouped", of: (command) => `{ ${command}; }` },
  { name: "in a subshell", of: (command) => `(${command})` },
  { name: "substituted", of: (command) => `echo $(${command})` },
  { name: "in backticks", of: (command) => `echo \`${command}\`` },
  { name: "process substitution", of: (command) => `cat <(${command})` },
  { name: "after an allowed one", of: (command) => `echo ok\n${command}` },
  { name: "after a carriage return", of: (command) => `echo ok\r\n${command}` },
  { name: "behind a here-document", of: (command) => `cat <<X\n$(${command})\nX` },
  ...[
    "env",
    "nice",
    "nohup",
    "time",
    "command",
    "exec",
    "builtin",
    "timeout 5",
    "stdbuf -oL",
    "setsid",
    "xargs",
    "busybox",
    "env -i",
    "env A=1",
    "nice -n 1",
    "sudo -n",
    "doas",
  ].map((word) => ({
    name: `wrapped by ${word}`,
    of: (command: string) => `${word} ${command}`,
  })),
  ...["sh -c", "bash -c", "bash -lc", "dash -c", "sh -ec", "env sh -c", "nice sh -c", "sh -c 'sh -c'"].map((word) => ({
    name: `inside ${word}`,
    of: (command: string) => `${word} ${quoted(command)}`,
  })),
  { name: "eval", of: (command) => `eval ${quoted(command)}` },
  { name: "piped into a shell", of: (command) => `echo ${quoted(command)} | sh` },
  { name: "upper case", of: (command) => command.replace(/^[a-z]+/, (word) => word.toUpperCase()) },
  { name: "zero-width space in the first word", of: (command) => command.replace(/^(\w)/, "$1\u200b") },
  { name: "zero-width space before it", of: (command) => `\u200b${command}` },
  { name: "no-break space", of: (command) => command.replace(" ", "\u00a0") },
  { name: "byte-order mark", of: (command) => `\ufeff${command}` },
  { name: "assignment in front", of: (command) => `A=1 ${command}` },
  { name: "loader variable in front", of: (command) => `LD_PRELOAD=/x ${command}` },
  { name: "path of the program", of: (command) => command.replace(/^([a-z]+)/, "/usr/bin/../bin/$1") },
  { name: "brace expansion", of: (command) => command.replace(/^(\S+) (\S+)/, "{$1,$2}") },
  { name: "variable for blank", of: (command) => command.replace(" ", "${IFS}") },
];

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
