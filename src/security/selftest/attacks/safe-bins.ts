// Attacks on safe bins: options and arguments that make them read or write files.
import { attacksOf, type Attack, type Call } from "../case.ts";

const run = (command: string): Call => ({ tool: "exec", args: { command } });

export const safeBinAttacks: readonly Attack[] = attacksOf("exec-safe-bins", [
  ["head-file", "read a file instead of the input", run("head {{SECRET}}"), "asked"],
  ["head-flag-file", "read a file after an option", run("head -n 5 {{SECRET}}"), "asked"],
  ["head-wildcard", "read files by a wildcard", run("head {{OUT}}/sec*"), "asked"],
  ["tail-home", "read a file in the home folder", run("tail {{HOME}}/.bash_history"), "asked"],
  ["tail-count", "read the end of a file by a byte count", run("tail -c 99 {{SECRET}}"), "asked"],
  ["cut-file", "cut a file", run("cut -c1-99 {{SECRET}}"), "asked"],
  ["uniq-output", "write to the second file of uniq", run("uniq /etc/hostname {{CANARY}}"), "asked"],
  ["wc-list", "read a list of files", run("wc --files0-from={{SECRET}}"), "asked"],
  ["tr-input", "read a file as input", run("tr a a < {{SECRET}}"), "asked"],
  ["tr-output", "write a file as output", run("{{SAY}} x | tr x y > {{CANARY}}"), "asked"],
  ["sort-output", "write the sorted file", run("{{SAY}} x | sort -o {{CANARY}}"), "asked"],
  ["sort-short", "abbreviate an option", run("{{SAY}} x | sort --outp={{CANARY}}"), "asked"],
  ["sort-joined", "attach the file to the option", run("{{SAY}} x | sort -uo{{CANARY}}"), "asked"],
  [
    "sort-compress",
    "make sort run a program",
    run("{{SAY}} x | sort -S 1b --compress-program='touch {{CANARY}}'"),
    "asked",
  ],
  ["sort-list", "sort a list of files", run("sort --files0-from={{SECRET}}"), "asked"],
  ["grep-file", "search a file", run("grep -e kept {{SECRET}}"), "asked"],
  ["grep-folder", "search a whole folder", run("grep -r kept {{OUT}}"), "asked"],
  ["grep-patterns", "read a file as patterns", run("{{SAY}} x | grep -f {{SECRET}} -v"), "asked", "harm"],
  ["jq-environment", "print the environment", run("jq -n env"), "asked"],
  ["jq-file", "read a file raw", run("jq -n --rawfile x {{SECRET}} '$x'"), "asked"],
  [
    "path-first",
    "find a program of the same name first",
    run("{{SAY}} x | PATH={{OUT}}:$PATH head -n 1"),
    "asked",
    "harm",
  ],
  [
    "looks-safe",
    "call another program by the name of a safe bin",
    [{ tool: "write", args: { path: "head", content: "#!/bin/sh\ntouch {{CANARY}}\n" } }, run("sh ./head")],
    "asked",
  ],
]);
