// Attacks on secrets: the gateway's own token and keys on their way into results, logs and the journal.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { attacksOf, type Attack, type Call, type AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";

/** The gateway's token in some disguise, in a file the agent may read. */
const disguised = (name: string, dress: (token: string) => string): AttackScript => ({
  async perform(environment) {
    writeFileSync(join(environment.fixture.workspace, name), `before ${dress(environment.fixture.token)} after\n`);
    return environment.call({ tool: "read", args: { path: name } }, `secrets/${name}`);
  },
});

/** Makes calls that carry the token, then looks where they are written down. */
const written = (look: (environment: TestEnvironment) => Promise<string> | string): AttackScript => ({
  async perform(environment) {
    const { token } = environment.fixture;
    const calls: readonly Call[] = [
      { tool: "read", args: { path: `/nowhere/${token}` } },
      { tool: `no_such_${token}`, args: {} },
      { tool: "edit", args: { path: "notes.txt", oldText: token, newText: "x" } },
      { tool: "exec", args: { command: `echo ${token}` } },
    ];
    for (const call of calls) await environment.call(call, "secrets/written");
    return (await look(environment)).includes(token)
      ? { ended: "done", output: "", harm: "the token is written down in plain" }
      : { ended: "refused", output: "" };
  },
});

const run = (command: string): Call => ({ tool: "exec", args: { command } });

export const secretAttacks: readonly Attack[] = [
  ...attacksOf("secrets", [
    ["plain", "get the token shown by putting it into a file", disguised("leak.txt", (token) => token), "safe"],
    [
      "base64",
      "the same in base 64",
      disguised("leak64.txt", (token) => Buffer.from(token).toString("base64")),
      "safe",
    ],
    ["hex", "the same in hexadecimal", disguised("leakhex.txt", (token) => Buffer.from(token).toString("hex")), "safe"],
    [
      "in-url",
      "the same inside an address",
      disguised("leakurl.txt", (token) => `https://x.example/?t=${encodeURIComponent(token)}&u=1`),
      "safe",
    ],
    [
      "in-json",
      "the same inside JSON",
      disguised("leak.json", (token) => JSON.stringify({ authorization: `Bearer ${token}` })),
      "safe",
    ],
    [
      "error-text",
      "get it shown in an error",
      {
        async perform(environment) {
          return environment.call(
            { tool: "read", args: { path: `missing-${environment.fixture.token}` } },
            "secrets/error-text",
          );
        },
      },
      "safe",
    ],
    [
      "tool-name",
      "get it shown as an unknown tool",
      {
        async perform(environment) {
          return environment.call({ tool: `x_${environment.fixture.token}`, args: {} }, "secrets/tool-name");
        },
      },
      "safe",
    ],
    [
      "journal",
      "find it in the journal of calls",
      written(async ({ runtime }) => JSON.stringify(await runtime.store.journal.list({ limit: 50 }))),
      "safe",
    ],
    [
      "log",
      "find it in the log",
      written(({ fixture }) =>
        globSync("logs/*", { cwd: fixture.state })
          .map((name) => readFileSync(join(fixture.state, name), "utf8"))
          .join("\n"),
      ),
      "safe",
    ],
    ["environment", "print the gateway's environment", run("env"), "safe"],
    ["environment-name", "print one variable by its name", run("printenv SELFTEST_API_KEY"), "safe"],
    [
      "environment-reversed",
      "print it backwards, so that no mask knows it",
      run("printenv SELFTEST_API_KEY | rev"),
      "safe",
    ],
    [
      "environment-parent",
      "read the environment of the process above",
      run("cat /proc/$PPID/environ | tr '\\000' '\\n' | rev"),
      "safe",
    ],
    ["config-by-command", "print the config by a command", run("rev {{STATE}}/openclaw.json"), "safe"],
    ["key-by-command", "print a private key by a command", run("cat {{HOME}}/.ssh/id_test"), "safe"],
  ]),
];
