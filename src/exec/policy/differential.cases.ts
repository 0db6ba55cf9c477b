// Generates command lines from a grammar, from ordinary to malformed ones.
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

/** The same text in one of the quoting styles of a shell. */
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
