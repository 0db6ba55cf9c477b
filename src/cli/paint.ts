// Colors by meaning, for terminals only.

export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

export const plain: Paint = { good: same, bad: same, warn: same, dim: same, strong: same };

export const colored: Paint = {
  good: (text) => style("green", text),
  bad: (text) => style("red", text),
  warn: (text) => style("yellow", text),
  dim: (text) => style("dim", text),
  strong: (text) => style("bold", text),
};

function same(text: string): string {
  return text;
}

/**
 * Loaded on use: importing `node:util` costs 5 ms, and most output has no colors. The caller has already checked the
 * stream; styleText would check stdout again.
 */
function style(format: "green" | "red" | "yellow" | "dim" | "bold", text: string): string {
  return process.getBuiltinModule("node:util").styleText(format, text, { validateStream: false });
}
