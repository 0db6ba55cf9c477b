// Runs the owner's program for an attachment: an argument list without a shell, a deadline, bounded output.
import { lstat, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, basename, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { StartProgram } from "../../exec/running.ts";

export interface ProgramRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly values: {
    readonly MediaPath: string;
    readonly MediaType: string;
    readonly Prompt: string;
    readonly MaxChars: string;
  };
  /** Ends the program with everything that it started. */
  readonly signal: AbortSignal;
}

const MAX_TEXT_BYTES = 1_048_576;
const MAX_ERROR_CHARS = 300;

/** The text that the program wrote into its output file, otherwise to standard output. */
export async function runProgram(start: StartProgram, request: ProgramRequest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const stem = basename(request.values.MediaPath, extname(request.values.MediaPath));
    const values: Readonly<Record<string, string>> = {
      ...request.values,
      MediaDir: dirname(request.values.MediaPath),
      OutputDir: folder,
      OutputBase: join(folder, stem),
    };
    const argv = [request.command, ...request.args.map((arg) => fillIn(arg, values))];
    const printed = await run(start, argv, folder, request);
    return (await writtenIn(folder, stem)) ?? printed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Values are put in once and never read as placeholders; unknown placeholders stay. */
export function fillIn(arg: string, values: Readonly<Record<string, string>>): string {
  return arg.replaceAll(/\{\{(\w+)\}\}/g, (all, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : all,
  );
}

async function run(
  start: StartProgram,
  argv: readonly string[],
  cwd: string,
  { command, signal }: ProgramRequest,
): Promise<string> {
  signal.throwIfAborted();
  const running = await start(argv, cwd);
  const stop = (): void => void running.end("aborted");
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { code, signal: killedBy } = await running.ended;
    signal.throwIfAborted();
    if (code === 0) return running.output.tail(MAX_TEXT_BYTES);
    const why = (running.errors?.tail(MAX_ERROR_CHARS) ?? "").trim();
    throw new OpenClawError(
      "media.program-failed",
      `${command} ended with ${killedBy ?? `code ${code}`}${why === "" ? "" : `: ${why}`}`,
    );
  } finally {
    signal.removeEventListener("abort", stop);
    await Promise.all([running.output.discard(), running.errors?.discard()]);
  }
}

/** `<OutputBase>`, `<OutputBase>.txt`, or the only text file in the output folder; programs differ in this. */
async function writtenIn(folder: string, stem: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const texts = names.filter((name) => name.endsWith(".txt"));
  const name =
    [stem, `${stem}.txt`].find((wanted) => names.includes(wanted)) ?? (texts.length === 1 ? texts[0] : undefined);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  // A link would be a file that the program was led to by the content.
  if (!(await lstat(path)).isFile()) return undefined;
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_TEXT_BYTES);
    const { bytesRead } = await file.read(bytes, 0, MAX_TEXT_BYTES, 0);
    return bytes.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
