// Writes the figures of a run into RESULTS.md; sections that did not run keep their last figures.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import type { Row } from "./table.ts";

const file = join(import.meta.dirname, "RESULTS.md");

export function writeResults(section: string, rows: readonly Row[]): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : head;
  writeFileSync(file, withSection(text, section, sectionText(rows, conditions())));
}

/** Replaces one `## section` of the page, or adds it at the end. */
export function withSection(page: string, name: string, body: string): string {
  const parts = page.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.startsWith(`## ${name}\n`));
  const text = `## ${name}\n\n${body}\n`;
  if (at === -1) return `${page.trimEnd()}\n\n${text}`;
  return parts.with(at, at === parts.length - 1 ? text : `${text}\n`).join("");
}

export function sectionText(rows: readonly Row[], measured: string): string {
  const lines = rows.map(
    ({ what, bar, figure, reached }) =>
      `| ${cell(what)} | ${cell(bar)} | ${cell(figure)}${reached ? "" : " **missed**"} |`,
  );
  return [measured, "", "| What | Bar | Measured |", "| --- | --- | --- |", ...lines].join("\n");
}

function conditions(): string {
  const day = new Date().toISOString().slice(0, 10);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  return `Measured on ${day}: ${cpus().length} cores, ${process.platform}, Node ${process.versions.node}, load average ${load}.`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

const head = "# Bench results\n\nWritten by `npm run bench`.\n";
