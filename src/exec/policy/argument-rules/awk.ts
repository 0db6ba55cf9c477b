// awk: accepts programs that cannot start, write, include or load anything, recognized by the characters they lack.
import { readOptions } from "./options.ts";
import { concern, fine, type Rule } from "./rule.ts";

/** `|` starts programs; `@` includes, loads and calls by name; a line continuation could split a word. */
const reaches = /[|@`]|\\\n|\bsystem\b|\bgetline\b|\bextension\b|\bclose\b|\bfflush\b|\bPROCINFO\b|\bENVIRON\b/;

export const awkRule: Rule = (args) => {
  const read = readOptions(args, {
    entries: "",
    valued: "Fv",
    long: "--version",
    longValued: "--field-separator --assign",
    stopAtOperand: true,
  });
  if (read === undefined) return concern("awk is given an option that loads or writes files, or that is not known");
  if (read.options.some(({ name }) => name === "--version")) return fine;
  const [program] = read.operands;
  if (program === undefined) return concern("awk has no program");
  // `>` is a comparison in a condition, but after a print it would write a file.
  const conditionless = program.replace(/\b(?:if|while)\s*\([^()"/\n]*\)/g, " ");
  const printed = conditionless.indexOf("print");
  const writes = printed >= 0 && conditionless.lastIndexOf(">") > printed;
  return writes || reaches.test(program.replaceAll("||", "  "))
    ? concern("its awk program can start programs, read or write files")
    : fine;
};
