// Command lines made from a grammar, and a real shell traced while it runs them: which programs does it start?
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";

const programs = ["p1", "p2", "p3", "./p4", "sub/p5", "~/p6"];
const found = fc.constantFrom(...programs);

const plainWord = fc.constantFrom(
  "a",
  "b c",
  "-x",
  "--long=1",
  "*",
  "*.txt",
  "?.txt",
  "[ab].txt",
  "[!a].txt",
  "sub/*",
  "*/",
  ".h*",
  "$HOME",
  "$(p9)",
  "`p9`",
  "a;b",
  "a&b",
  "a|b",
  "'",
  '"',
  "\\",
  "~",
  "~/x",
  "!x",
  "#x",
  "a#b",
  "{a,b}",
  "{}",
  "\n",
  "\t",
  "é",
  "🦞",
  "a=b",
  "<x",
  ">y",
  "$",
  "^",
  "%s",
  "(",
  ")",
  "[",
  "]",
  "-",
  "--",
  "",
);

/** The same text written in one of the ways a shell knows. */
const written = fc.tuple(plainWord, fc.constantFrom(0, 1, 1, 2, 3, 3, 4, 4, 5, 6)).map(([text, way]) => {
  if (way === 0) return text === "" ? "''" : text;
  if (way === 1) return `'${text.replaceAll("'", "'\\''")}'`;
  if (way === 2) return `"${text}"`;
  if (way === 3) return `"${text.replace(/["\\$`]/g, "\\$&")}"`;
  if (way === 4) return Array.from(text, (char) => (char === "\n" ? "\\\n" : `\\${char}`)).join("") || "''";
  if (way === 5) return `$'${text.replace(/['\\]/g, "\\$&")}'`;
  return `${text}\\\n`;
});

const name = fc.oneof(
  { weight: 6, arbitrary: found },
  { weight: 1, arbitrary: found.map((one) => `\\${one}`) },
  { weight: 1, arbitrary: found.map((one) => `'${one}'`) },
  { weight: 1, arbitrary: found.map((one) => `${one.slice(0, -1)}""${one.slice(-1)}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "echo",
      "true",
      "ls",
      "printf",
      "p9",
      "nosuch",
      "cat",
      "test",
      "[",
      "eval p1",
      "exec p1",
      "builtin echo",
      "command p1",
      "command -v p1",
      ". ./script",
      "source ./script",
      "bash -c p9",
      "sh script",
      "find . -exec p9 {} +",
      "xargs p9",
      "env p9",
      "if p1",
      "time p1",
      "! p1",
      "{ p1",
      "( p1",
      "p1()",
      "function p1",
      "coproc p1",
      "[[ a",
      "(( 1",
      "export",
      "alias p1=p9",
      "trap p9 EXIT",
      "$X",
      "$(echo p9)",
      "`echo p9`",
      "p*",
      "p?",
    ),
  },
);

const wrapper = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "nice ",
      "env ",
      "env A=1 ",
      "timeout 5 ",
      "nohup ",
      "nice -n 3 ",
      "stdbuf -oL ",
      "env -i ",
      "env -S ",
      "command ",
      "time ",
      "setsid -w ",
      "env nice ",
      "FOO=1 ",
      "FOO='a b' ",
      "FOO=$(p9) ",
      "PATH=. ",
      "FOO=* ",
    ),
  },
);

const redirect = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      " 2>&1",
      " >/dev/null",
      " 2>/dev/null",
      " </dev/null",
      " >/dev/null 2>&1",
      " &>/dev/null",
      " > out",
      " 2> out",
      " < a.txt",
      " <<< x",
      " >&2",
      " 2>&1 >/dev/null",
      " >$(p9)",
      " <(p9)",
      " 3>&1",
    ),
  },
);

const simple = fc
  .tuple(wrapper, name, fc.array(written, { maxLength: 3 }), redirect)
  .map(([before, program, args, after]) => `${before}${[program, ...args].join(" ")}${after}`);

const joiner = fc.oneof(
  { weight: 5, arbitrary: fc.constant(" | ") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("; ", " && ", " || ", " & ", "\n", "|", " |& ", ";\n", "|\n", " # x\n", "\\\n|"),
  },
);
const ending = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: fc.constantFrom(";", "\n", " # remark", " &", "; }", " )", "; fi", "; done", " |", "\\") },
);
const beginning = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "cd sub && ",
      "cd nosuch && ",
      "cd / && ",
      "cd sub; ",
      "\n",
      " ",
      "X=p9; ",
      "cd 'sub' && cd .. && ",
    ),
  },
);

export const commandLine: fc.Arbitrary<string> = fc
  .tuple(beginning, simple, fc.array(fc.tuple(joiner, simple), { maxLength: 2 }), ending)
  .map(([start, first, more, end]) => `${start}${first}${more.map(([join_, next]) => join_ + next).join("")}${end}`);

export interface Yard {
  readonly folder: string;
  readonly bin: string;
  readonly home: string;
  readonly path: readonly string[];
}

/** Programs that do nothing, and files for wildcards to find. */
export function openYard(root: string): Yard {
  const [folder, bin, home] = ["yard", "yard-bin", "yard-home"].map((one) => join(root, one)) as [
    string,
    string,
    string,
  ];
  for (const one of [folder, bin, home, join(folder, "sub")]) mkdirSync(one, { recursive: true });
  const nothing = [
    join(bin, "p1"),
    join(bin, "p2"),
    join(bin, "p3"),
    join(bin, "p9"),
    join(folder, "p4"),
    join(folder, "sub/p5"),
    join(home, "p6"),
  ];
  for (const path of nothing) {
    copyFileSync("/usr/bin/true", path);
    chmodSync(path, 0o755);
  }
  for (const file of ["a.txt", "b.txt", "c.txt", ".hidden", "sub/x", "script"]) writeFileSync(join(folder, file), "");
  writeFileSync(join(folder, "script"), "p9\n");
  return { folder, bin, home, path: [bin, "/usr/bin", "/bin"] };
}

export interface Started {
  readonly path: string;
  readonly argv: readonly string[];
}

/** Runs the lines one after another in `shell` under strace; gives the programs each of them started. */
export function traceLines(
  lines: readonly string[],
  shell: string,
  yard: Yard,
  scratch: string,
): readonly (readonly Started[])[] {
  mkdirSync(scratch, { recursive: true });
  const [input, driver, output] = ["lines.json", "driver.mjs", "trace"].map((one) => join(scratch, one)) as [
    string,
    string,
    string,
  ];
  writeFileSync(input, JSON.stringify(lines));
  writeFileSync(
    driver,
    `import { spawnSync } from "node:child_process"; import { readFileSync } from "node:fs";
const env = { PATH: ${JSON.stringify(yard.path.join(":"))}, HOME: ${JSON.stringify(yard.home)}, LC_ALL: "C.UTF-8" };
for (const [i, line] of JSON.parse(readFileSync(process.argv[2], "utf8")).entries())
  spawnSync(process.argv[3], ["-c", line], { cwd: ${JSON.stringify(yard.folder)}, env, argv0: "line-" + i, timeout: 10000, stdio: ["pipe", "ignore", "ignore"], input: "" });
`,
  );
  const done = spawnSync(
    "strace",
    [
      "-f",
      "--seccomp-bpf",
      "-qq",
      "-xx",
      "-s",
      "65535",
      "-e",
      "trace=execve",
      "-e",
      "signal=none",
      "-o",
      output,
      process.execPath,
      driver,
      input,
      shell,
    ],
    { encoding: "utf8", timeout: 600_000 },
  );
  if (done.status !== 0) throw new Error(`strace failed: ${done.stderr}`);
  return readTrace(readFileSync(output, "latin1"), lines.length);
}

/** Lines are told apart by the name their shell was started under. */
function readTrace(text: string, count: number): readonly (readonly Started[])[] {
  const perLine: Started[][] = Array.from({ length: count }, () => []);
  const pending = new Map<string, Started>();
  let current = -1;
  for (const row of text.split("\n")) {
    const call = /^(\d+)\s+execve\("((?:\\x[0-9a-f]{2})*)", \[(.*?)\], .*?(<unfinished \.\.\.>|= (-?\d+).*)$/.exec(row);
    const resumed = /^(\d+)\s+<\.\.\. execve resumed>.*= 0$/.exec(row);
    const started =
      call === null ? pending.get(resumed?.[1] ?? "") : { path: decoded(call[2] ?? ""), argv: words(call[3] ?? "") };
    if (started === undefined) continue;
    if (call?.[4]?.startsWith("<unfinished") === true) {
      pending.set(call[1] ?? "", started);
      continue;
    }
    pending.delete(call?.[1] ?? resumed?.[1] ?? "");
    if (call !== null && call[5] !== "0") continue;
    const mark = /^line-(\d+)$/.exec(started.argv[0] ?? "");
    if (mark === null) perLine[current]?.push(started);
    else current = Number(mark[1]);
  }
  return perLine;
}

const words = (text: string): string[] =>
  [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => decoded(match[1] ?? ""));

const decoded = (hex: string): string => Buffer.from(hex.replaceAll("\\x", ""), "hex").toString("utf8");
