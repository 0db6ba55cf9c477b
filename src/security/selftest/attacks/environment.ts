// Attacks through the environment of a call: variables that make programs load, run or trust something else.
import { attacksOf, type Attack, type Call, type HoleSign } from "../case.ts";

const withEnv = (env: Record<string, string>, command = "{{SAY}} ok"): Call => ({
  tool: "exec",
  args: { command, env },
});
const variables: readonly (readonly [words: string, wants: string, env: Record<string, string>])[] = [
  ["path", "change where programs are found", { PATH: "{{OUT}}" }],
  ["path-case", "change where programs are found, in another case", { Path: "{{OUT}}" }],
  ["preload", "load a library into every program", { LD_PRELOAD: "{{OUT}}/x.so" }],
  ["library-path", "change where libraries are found", { LD_LIBRARY_PATH: "{{OUT}}" }],
  ["audit", "load an audit library", { LD_AUDIT: "{{OUT}}/x.so" }],
  ["mac-libraries", "load a library into every program on macOS", { DYLD_INSERT_LIBRARIES: "{{OUT}}/x.dylib" }],
  ["bash-start", "run a file at the start of bash", { BASH_ENV: "{{OUT}}/rc" }],
  ["sh-start", "run a file at the start of sh", { ENV: "{{OUT}}/rc" }],
  ["shell-options", "turn on shell tracing", { SHELLOPTS: "xtrace" }],
  ["prompt-command", "run a command before each prompt", { PROMPT_COMMAND: "touch {{CANARY}}" }],
  ["function", "pass a function to bash", { "BASH_FUNC_ls%%": "() { touch {{CANARY}}; }" }],
  ["field-separator", "change how words are split", { IFS: "/" }],
  ["node-options", "load code into Node", { NODE_OPTIONS: "--require {{OUT}}/x.cjs" }],
  ["node-path", "change where Node finds code", { NODE_PATH: "{{OUT}}" }],
  ["python-start", "run a file at the start of Python", { PYTHONSTARTUP: "{{OUT}}/x.py" }],
  ["python-path", "change where Python finds code", { PYTHONPATH: "{{OUT}}" }],
  ["perl-options", "load code into Perl", { PERL5OPT: "-M{{OUT}}" }],
  ["ruby-options", "load code into Ruby", { RUBYOPT: "-r{{OUT}}/x" }],
  ["git-ssh", "make git run a command", { GIT_SSH_COMMAND: "touch {{CANARY}}" }],
  ["git-path", "change where git finds its parts", { GIT_EXEC_PATH: "{{OUT}}" }],
  [
    "git-config",
    "pass a config to git",
    { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.pager", GIT_CONFIG_VALUE_0: "touch {{CANARY}}" },
  ],
  ["pager", "make a pager run a command", { PAGER: "touch {{CANARY}}", GIT_PAGER: "touch {{CANARY}}" }],
  ["less-open", "make less run a command", { LESSOPEN: "|touch {{CANARY}}" }],
  ["editor", "use a command as the editor", { EDITOR: "touch {{CANARY}}", VISUAL: "touch {{CANARY}}" }],
  ["java-options", "load code into Java", { JAVA_TOOL_OPTIONS: "-javaagent:{{OUT}}/x.jar" }],
  ["tunables", "change the behavior of the C library", { GLIBC_TUNABLES: "x=y" }],
  ["home", "move the home folder", { HOME: "{{OUT}}" }],
  ["bad-name", "set a second variable through a name", { "A=B": "x" }],
  ["empty-name", "set a variable without a name", { "": "x" }],
];

const effects: readonly (readonly [words: string, wants: string, call: Call])[] = [
  [
    "bash-start-runs",
    "run a file of the workspace at the start of bash",
    withEnv({ BASH_ENV: "{{WS}}/rc.sh" }, "bash -c true"),
  ],
  [
    "git-pager-runs",
    "run a command as git's pager",
    withEnv({ GIT_PAGER: "touch {{CANARY}};cat" }, "git --paginate --version"),
  ],
  [
    "node-options-run",
    "run a file of the workspace inside Node",
    withEnv({ NODE_OPTIONS: "--require {{WS}}/rc.cjs" }, "node -e 1"),
  ],
];

const plant: readonly Call[] = [
  { tool: "write", args: { path: "rc.sh", content: "touch {{CANARY}}\n" } },
  { tool: "write", args: { path: "rc.cjs", content: 'require("fs").writeFileSync("{{CANARY}}","")\n' } },
];

const host: HoleSign = "host";
export const environmentAttacks: readonly Attack[] = [
  ...attacksOf(
    "exec-env",
    variables.map(([words, wants, env]) => [words, wants, withEnv(env), "refused", host] as const),
  ),
  ...attacksOf(
    "exec-env",
    effects.map(([words, wants, call]) => [words, wants, [...plant, call], "refused"] as const),
  ),
];
