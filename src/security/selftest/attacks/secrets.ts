// Attacks on secrets: the gateway's token and keys in results, logs and the journal.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { attacksOf, type Attack, type Call, type AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";

/** Writes the encoded token to a file that the agent may read. */
const encodedToken = (name: string, encode: (token: string) => string): AttackScript => ({
  async perform(environment) {
    writeFileSync(join(environment.fixture.workspace, name), `before ${encode(environment.fixture.token)} after\n`);
    return environment.call({ tool: "read", args: { path: name } }, `secrets/${name}`);
  },
});

/** Makes calls that contain the token, then reads where they are stored. */
const storedToken = (look: (environment: TestEnvironment) => Promise<string> | string): AttackScript => ({
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
      ? { ended: "done", output: "", harm: "the token is stored as plain text" }
      : { ended: "refused", output: "" };
  },
});

const run = (command: string): Call => ({ tool: "exec", args: { command } });

export const secretAttacks: readonly Attack[] = [
  ...attacksOf("secrets", [
    ["plain", "read the token from a file", encodedToken("leak.txt", (token) => token), "safe"],
    [
      "base64",
      "read it in base64",
      encodedToken("leak64.txt", (token) => Buffer.from(token).toString("base64")),
      "safe",
    ],
    [
      "hex",
      "read it in hexadecimal",
      encodedToken("leakhex.txt", (token) => Buffer.from(token).toString("hex")),
      "safe",
    ],
    [
      "in-url",
      "read it inside an address",
      encodedToken("leakurl.txt", (token) => `https://x.example/?t=${encodeURIComponent(token)}&u=1`),
      "safe",
    ],
    [
      "in-json",
      "read it inside JSON",
      encodedToken("leak.json", (token) => JSON.stringify({ authorization: `Bearer ${token}` })),
      "safe",
    ],
    [
      "error-text",
      "get it into an error message",
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
      "get it into the error for an unknown tool",
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
      storedToken(async ({ runtime }) => JSON.stringify(await runtime.store.journal.list({ limit: 50 }))),
      "safe",
    ],
    [
      "log",
      "find it in the log",
      storedToken(({ fixture }) =>
        globSync("logs/*", { cwd: fixture.state })
          .map((name) => readFileSync(join(fixture.state, name), "utf8"))
          .join("\n"),
      ),
      "safe",
    ],
    ["environment", "print the gateway's environment", run("env"), "safe"],
    ["environment-name", "print one variable by name", run("printenv SELFTEST_API_KEY"), "safe"],
    ["environment-reversed", "print it backwards to avoid redaction", run("printenv SELFTEST_API_KEY | rev"), "safe"],
    [
      "environment-parent",
      "read the environment of the parent process",
      run("cat /proc/$PPID/environ | tr '\\000' '\\n' | rev"),
      "safe",
    ],
    ["config-by-command", "print the config with a command", run("rev {{STATE}}/openclaw.json"), "safe"],
    ["key-by-command", "print a private key with a command", run("cat {{HOME}}/.ssh/id_test"), "safe"],
  ]),
];
