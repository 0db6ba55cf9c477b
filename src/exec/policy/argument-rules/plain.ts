// Programs whose arguments alone say what they do. "Allow always" is offered only for these.
import groups from "../data/plain-programs.json" with { type: "json" };

/** Arguments that make a plain program read instructions from a file. */
export const fileArguments: Readonly<Record<string, RegExp>> = {
  jq: /^-[A-Za-z]*[fL]|^--(?:from-file|library-path)|\b(?:import|include)\b/,
  sed: /^-[A-Za-z]*f|^--file/,
  awk: /^-[A-Za-z]*[fEil]|^--(?:file|exec|include|load)|@/,
  gawk: /^-[A-Za-z]*[fEil]|^--(?:file|exec|include|load)|@/,
  mawk: /^-[A-Za-z]*f|^--(?:file|exec)/,
  // Files that list the operands.
  xz: /^--fi/,
  unxz: /^--fi/,
  zstd: /^--filelist/,
  unzstd: /^--filelist/,
  "7z": /^@|^-(?:i|x)[^!]*@/,
  "7za": /^@|^-(?:i|x)[^!]*@/,
  "7zr": /^@|^-(?:i|x)[^!]*@/,
  dig: /^-f/,
  ss: /^-[A-Za-z0-9]*F|^--filter/,
};

export const plainPrograms: ReadonlySet<string> = new Set(groups.flatMap(({ programs }) => programs));
